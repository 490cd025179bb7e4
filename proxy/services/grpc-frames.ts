import { ServiceError } from './contract.ts';

/** A flag byte and the length of the message. */
const PREFIX_BYTES = 5;

/** A message as it stands in the body of a call. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.byteLength);
  framed[0] = 0;
  framed.writeUInt32BE(message.byteLength, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** Cuts the body of an answer into messages. Throws a `ServiceError` for what cannot be read. */
export class FrameReader {
  readonly #maxBytes: number;
  readonly #onMessage: (bytes: Uint8Array) => void;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);
  #prefixBytes = 0;
  /** Pieces of the message in hand. */
  #pieces: Uint8Array[] = [];
  #missing = 0;

  constructor(maxBytes: number, onMessage: (bytes: Uint8Array) => void) {
    this.#maxBytes = maxBytes;
    this.#onMessage = onMessage;
  }

  /** A message has begun and not ended. */
  get cut(): boolean {
    return this.#prefixBytes > 0;
  }

  read(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.byteLength) {
      at = this.#prefixBytes < PREFIX_BYTES ? this.#readPrefix(chunk, at) : this.#readMessage(chunk, at);
      if (this.#prefixBytes === PREFIX_BYTES && this.#missing === 0) this.#finish();
    }
  }

  #readPrefix(chunk: Uint8Array, from: number): number {
    let at = from;
    while (at < chunk.byteLength && this.#prefixBytes < PREFIX_BYTES) {
      this.#prefix[this.#prefixBytes++] = chunk[at++] ?? 0;
    }
    if (this.#prefixBytes < PREFIX_BYTES) return at;
    if (this.#prefix[0] !== 0)
      throw new ServiceError('protocol', 'the service compressed its answer, which nobody asked for');
    this.#missing = this.#prefix.readUInt32BE(1);
    if (this.#missing > this.#maxBytes) {
      throw new ServiceError('tooLarge', `the service sent a message of more than ${this.#maxBytes} bytes`);
    }
    return at;
  }

  #readMessage(chunk: Uint8Array, from: number): number {
    const piece = chunk.subarray(from, from + this.#missing);
    this.#pieces.push(piece);
    this.#missing -= piece.byteLength;
    return from + piece.byteLength;
  }

  #finish(): void {
    const [first, ...rest] = this.#pieces;
    const message = rest.length === 0 ? (first ?? new Uint8Array(0)) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#prefixBytes = 0;
    this.#onMessage(message);
  }
}
