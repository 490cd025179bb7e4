import type { Headers } from '../exchange/headers.ts';
import { stripTrailers } from '../exchange/hop-by-hop.ts';
import { checkOctets, type FieldParser } from './fields.ts';
import { Http1Error, MAX_CHUNK_EXTENSION_BYTES, MAX_TRAILER_BYTES } from './limits.ts';

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const TAB = 0x09;
const SEMICOLON = 0x3b;

type State = 'size' | 'sizeBlank' | 'extension' | 'sizeLf' | 'data' | 'dataCr' | 'dataLf' | 'trailer' | 'done';

/**
 * Decodes the chunked coding (RFC 9112 section 7.1), strictly: CRLF only, hexadecimal sizes only, bounded extensions
 * and trailers. A long function by nature: it is the state machine of the grammar.
 */
export class ChunkedDecoder {
  #state: State = 'size';
  #digits = 0;
  #remaining = 0;
  #extensionBytes = 0;
  #trailerText = '';
  readonly #fields: FieldParser;
  readonly #maxHeaders: number;
  trailers: Headers | null = null;
  /** The data of the last `decode`, as a range of its chunk. */
  dataStart = 0;
  dataEnd = 0;

  constructor(fields: FieldParser, maxHeaders: number) {
    this.#fields = fields;
    this.#maxHeaders = maxHeaders;
  }

  get done(): boolean {
    return this.#state === 'done';
  }

  /**
   * Decodes from `offset` and returns the offset behind the last byte used. Data of several chunks in one read is moved
   * together inside `bytes`, so that a read becomes one write however finely the peer chunked it.
   */
  decode(bytes: Buffer, offset: number): number {
    let at = offset;
    this.dataStart = offset;
    this.dataEnd = offset;
    while (at < bytes.length && this.#state !== 'done') {
      switch (this.#state) {
        case 'data': {
          const take = Math.min(this.#remaining, bytes.length - at);
          if (this.dataEnd === this.dataStart) {
            this.dataStart = at;
            this.dataEnd = at + take;
          } else {
            bytes.copyWithin(this.dataEnd, at, at + take);
            this.dataEnd += take;
          }
          at += take;
          this.#remaining -= take;
          if (this.#remaining === 0) this.#state = 'dataCr';
          break;
        }
        case 'trailer':
          at = this.#trailer(bytes, at);
          break;
        default:
          this.#control(bytes[at] ?? 0);
          at += 1;
      }
    }
    return at;
  }

  #control(byte: number): void {
    switch (this.#state) {
      case 'size':
        this.#size(byte);
        return;
      case 'sizeBlank':
        // Blanks may only stand before an extension or the end: `5 0` is no size.
        this.#countExtension();
        if (byte === CR) this.#state = 'sizeLf';
        else if (byte === SEMICOLON) this.#state = 'extension';
        else if (byte !== SPACE && byte !== TAB) throw new Http1Error(400, 'invalid chunk size');
        return;
      case 'extension':
        this.#countExtension();
        if (byte === CR) this.#state = 'sizeLf';
        else if (byte === LF || (byte < SPACE && byte !== TAB)) throw new Http1Error(400, 'invalid chunk extension');
        return;
      case 'sizeLf':
        this.#expect(byte, LF);
        this.#digits = 0;
        this.#state = this.#remaining === 0 ? 'trailer' : 'data';
        return;
      case 'dataCr':
        this.#expect(byte, CR);
        this.#state = 'dataLf';
        return;
      default:
        this.#expect(byte, LF);
        this.#state = 'size';
    }
  }

  #size(byte: number): void {
    const digit = hexDigit(byte);
    if (digit !== -1) {
      this.#digits += 1;
      // 13 hexadecimal digits are the most that a number holds exactly.
      if (this.#digits > 13) throw new Http1Error(413, 'chunk size too large');
      this.#remaining = this.#remaining * 16 + digit;
      return;
    }
    if (this.#digits === 0) throw new Http1Error(400, 'invalid chunk size');
    if (byte === CR) this.#state = 'sizeLf';
    else if (byte === SEMICOLON) this.#state = 'extension';
    else if (byte === SPACE || byte === TAB) this.#state = 'sizeBlank';
    else throw new Http1Error(400, 'invalid chunk size');
  }

  #countExtension(): void {
    this.#extensionBytes += 1;
    if (this.#extensionBytes > MAX_CHUNK_EXTENSION_BYTES) throw new Http1Error(400, 'chunk extensions too long');
  }

  #expect(byte: number, wanted: number): void {
    if (byte !== wanted) throw new Http1Error(400, 'invalid chunk ending');
  }

  /** Collects until the empty line that ends the message. */
  #trailer(bytes: Buffer, at: number): number {
    const before = this.#trailerText.length;
    const slice = bytes.toString('latin1', at, Math.min(bytes.length, at + MAX_TRAILER_BYTES - before + 2));
    const text = this.#trailerText + slice;
    const end = text.startsWith('\r\n') ? 0 : text.indexOf('\r\n\r\n') + 2;
    if (text.startsWith('\r\n') || end > 1) {
      this.#finishTrailers(text.slice(0, end));
      return at + end + 2 - before;
    }
    if (text.length > MAX_TRAILER_BYTES) throw new Http1Error(431, 'trailers too long');
    if (text.length >= 2) checkOctets(text.endsWith('\r') ? text.slice(0, -1) : text);
    this.#trailerText = text;
    return at + slice.length;
  }

  #finishTrailers(text: string): void {
    this.#state = 'done';
    this.#trailerText = '';
    if (text === '') return;
    checkOctets(text);
    const trailers = this.#fields.parse(text, 0, this.#maxHeaders);
    stripTrailers(trailers);
    if (trailers.size > 0) this.trailers = trailers;
  }
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
