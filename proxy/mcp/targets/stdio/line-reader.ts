const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Cuts a stream of bytes into lines without their ends; a line is never longer than `maxBytes`. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: Buffer) => void;
  /** Pieces of the line that has not ended. */
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number, onLine: (line: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** False when a line has become too long; nothing more may be given then. */
  take(chunk: Buffer): boolean {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      if (!this.#add(chunk.subarray(from, at))) return false;
      this.#emit();
      from = at + 1;
    }
    return this.#add(chunk.subarray(from));
  }

  /** The stream has ended; what has no line end is a line, too. */
  end(): void {
    if (this.#bytes > 0) this.#emit();
  }

  #add(piece: Buffer): boolean {
    if (piece.length === 0) return true;
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) return false;
    this.#pieces.push(piece);
    return true;
  }

  #emit(): void {
    const [only] = this.#pieces;
    const line = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#bytes);
    this.#pieces = [];
    this.#bytes = 0;
    const whole = line.at(-1) === RETURN ? line.subarray(0, -1) : line;
    if (whole.length > 0) this.#onLine(whole);
  }
}
