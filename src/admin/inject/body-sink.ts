/** Keeps the first bytes of a body and counts them all. */
export class BodySink {
  readonly #limit: number;
  readonly #parts: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get bytes(): number {
    return this.#bytes;
  }

  take(part: Buffer): void {
    this.#bytes += part.byteLength;
    const room = this.#limit - this.#kept;
    if (room <= 0) return;
    const piece = part.subarray(0, room);
    this.#parts.push(piece);
    this.#kept += piece.byteLength;
  }

  body(): Buffer {
    return Buffer.concat(this.#parts);
  }
}
