/** Takes the texts that a WebSocket server sends. */
export type OnText = (text: string) => void;

const TEXT = 1;
const CONTINUATION = 0;

/**
 * Reads the frames of a WebSocket server (RFC 6455 section 5) that go by. It gives up for good on what it cannot read
 * (compressed or masked frames), and on messages that are too large: bytes are never held for it.
 */
export class ServerFrames {
  readonly #onText: OnText;
  readonly #limitBytes: number;
  /** Bytes of a frame whose head is not whole. */
  #head: Buffer = Buffer.alloc(0);
  /** Bytes of the payload that are still to come. */
  #left = 0;
  #final = false;
  /** The payload belongs to a message that is read. */
  #reading = false;
  /** A message of several frames is a text. */
  #continued = false;
  #parts: Buffer[] = [];
  #bytes = 0;
  #lost = false;

  constructor(onText: OnText, limitBytes: number) {
    this.#onText = onText;
    this.#limitBytes = limitBytes;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.byteLength > 0 && !this.#lost) {
      if (this.#left > 0) {
        rest = this.#payload(rest);
        continue;
      }
      const held = this.#head.byteLength === 0 ? rest : Buffer.concat([this.#head, rest]);
      const used = this.#frameHead(held);
      this.#head = used === null ? held : Buffer.alloc(0);
      if (used === null) return;
      rest = held.subarray(used);
      if (this.#left === 0 && !this.#lost) this.#frameEnd();
    }
  }

  /** Length of the head; null while it is not whole. */
  #frameHead(bytes: Buffer): number | null {
    if (bytes.byteLength < 2) return null;
    const [first = 0, second = 0] = bytes;
    const short = second & 0x7f;
    const size = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.byteLength < size) return null;
    const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    const opcode = first & 0x0f;
    this.#final = (first & 0x80) !== 0;
    this.#reading = opcode === TEXT || (opcode === CONTINUATION && this.#continued);
    if (opcode === TEXT) this.#continued = !this.#final;
    else if (opcode === CONTINUATION && this.#final) this.#continued = false;
    this.#left = length;
    const readable = (first & 0x70) === 0 && (second & 0x80) === 0;
    if (!readable || (this.#reading && this.#bytes + length > this.#limitBytes)) this.#giveUp();
    return size;
  }

  #payload(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#left);
    this.#left -= part.byteLength;
    if (this.#reading) {
      this.#parts.push(part);
      this.#bytes += part.byteLength;
    }
    if (this.#left === 0) this.#frameEnd();
    return bytes.subarray(part.byteLength);
  }

  #frameEnd(): void {
    if (!this.#reading || !this.#final) return;
    const text = Buffer.concat(this.#parts, this.#bytes).toString('utf8');
    this.#parts = [];
    this.#bytes = 0;
    this.#reading = false;
    this.#onText(text);
  }

  #giveUp(): void {
    this.#lost = true;
    this.#parts = [];
    this.#head = Buffer.alloc(0);
  }
}
