import { Http1Error, MAX_EMPTY_LINE_BYTES } from './limits.ts';

const CR = 0x0d;
const LF = 0x0a;

/** Collects bytes until a head is complete. */
export class HeadReader {
  readonly #maxBytes: number;
  #partial: Buffer | null = null;
  #skipped = 0;
  /** `performance.now()` when the first byte of an incomplete head came. */
  startedAt = 0;
  /** Bytes behind the head that was read last. */
  rest: Buffer | null = null;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Nothing of a head has come yet. */
  get empty(): boolean {
    return this.#partial === null;
  }

  /** The lines of a whole head, each with its CRLF and without the empty line; null while it is incomplete. */
  read(chunk: Buffer): string | null {
    const bytes = this.#partial === null ? chunk : Buffer.concat([this.#partial, chunk]);
    let start = 0;
    // RFC 9112 section 2.2: empty lines in front of a request line are skipped.
    while (start + 1 < bytes.length && bytes[start] === CR && bytes[start + 1] === LF) start += 2;
    this.#skipped += start;
    // Each of them counts as a sign of life, so without a limit they would keep a connection open for good.
    if (this.#skipped > MAX_EMPTY_LINE_BYTES) throw new Http1Error(400, 'too many empty lines in front of a head');
    const end = bytes.indexOf('\r\n\r\n', start, 'latin1');
    if (end === -1) {
      this.#keep(start === 0 ? bytes : bytes.subarray(start));
      return null;
    }
    if (end - start > this.#maxBytes) throw new Http1Error(431, `head larger than ${this.#maxBytes} bytes`);
    this.#partial = null;
    this.#skipped = 0;
    this.rest = end + 4 === bytes.length ? null : bytes.subarray(end + 4);
    return bytes.toString('latin1', start, end + 2);
  }

  #keep(bytes: Buffer): void {
    if (bytes.length > this.#maxBytes) throw new Http1Error(431, `head larger than ${this.#maxBytes} bytes`);
    // With bare LFs the end would never be found: refuse at the first one instead of waiting for it.
    for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) {
      if (at === 0 || bytes[at - 1] !== CR) throw new Http1Error(400, 'bare LF in the head');
    }
    if (bytes.length === 0) {
      this.#partial = null;
      return;
    }
    if (this.#partial === null) this.startedAt = performance.now();
    this.#partial = bytes;
  }
}
