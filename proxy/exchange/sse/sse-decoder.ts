/** Takes the events of a stream (WHATWG HTML, "Server-sent events"). Comments are nobody's business here. */
export interface SseSink {
  /** `name` is null where the stream names none; `data` has its lines joined by line feeds. */
  event(name: string | null, data: string): void;
  /** The id of the event under way, before it; also where the event has no data. */
  id?(id: string): void;
  /** How long to wait before the stream is opened again. */
  retry?(delayMs: number): void;
}

/** More than the limit without an end in sight. */
export class SseOverflow extends Error {
  override readonly name = 'SseOverflow';
}

/**
 * Cuts bytes into events as they come. Lines end with LF, CR LF or CR; characters may be split between chunks. Throws an
 * `SseOverflow` when one event takes more than `limit` characters.
 */
export class SseDecoder {
  readonly #sink: SseSink;
  readonly #limit: number;
  readonly #text = new TextDecoder();
  #rest = '';
  #afterCr = false;
  #name: string | null = null;
  #data: string | null = null;

  constructor(sink: SseSink, limit: number) {
    this.#sink = sink;
    this.#limit = limit;
  }

  push(chunk: Uint8Array): void {
    this.#take(this.#text.decode(chunk, { stream: true }));
  }

  /** The stream is over. What a last event has is given even when its blank line is missing. */
  end(): void {
    this.#take(this.#text.decode());
    if (this.#rest !== '') this.#line(this.#rest);
    this.#rest = '';
    this.#dispatch();
  }

  #take(decoded: string): void {
    // In the middle of a long line: joining pieces is cheap as long as nobody looks into them.
    if (this.#rest !== '' && !decoded.includes('\n') && !decoded.includes('\r')) {
      this.#rest += decoded;
      this.#check();
      return;
    }
    let text = this.#rest === '' ? decoded : this.#rest + decoded;
    if (this.#afterCr && text.startsWith('\n')) text = text.slice(1);
    if (text !== '') this.#afterCr = false;
    let from = 0;
    // Most streams have no CR: one search for each line.
    let cr = text.indexOf('\r');
    for (;;) {
      const lf = text.indexOf('\n', from);
      if (cr !== -1 && cr < from) cr = text.indexOf('\r', from);
      if (cr !== -1 && (lf === -1 || cr < lf)) {
        this.#line(text.slice(from, cr));
        this.#afterCr = cr + 1 === text.length;
        from = lf === cr + 1 ? cr + 2 : cr + 1;
        continue;
      }
      if (lf === -1) break;
      this.#line(text.slice(from, lf));
      from = lf + 1;
    }
    this.#rest = from === 0 ? text : text.slice(from);
    this.#check();
  }

  #check(): void {
    if (this.#rest.length + (this.#data?.length ?? 0) > this.#limit) throw new SseOverflow('an event is too large');
  }

  #line(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    if (line.startsWith('data:')) {
      const value = line.charCodeAt(5) === 0x20 ? line.slice(6) : line.slice(5);
      this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith('event:')) {
      this.#name = line.charCodeAt(6) === 0x20 ? line.slice(7) : line.slice(6);
    } else if (line === 'data') {
      this.#data = this.#data === null ? '' : `${this.#data}\n`;
    } else if (line.startsWith('id:')) {
      const id = line.charCodeAt(3) === 0x20 ? line.slice(4) : line.slice(3);
      if (!id.includes('\0')) this.#sink.id?.(id);
    } else if (line.startsWith('retry:')) {
      const digits = line.charCodeAt(6) === 0x20 ? line.slice(7) : line.slice(6);
      if (/^\d{1,9}$/.test(digits)) this.#sink.retry?.(Number(digits));
    }
  }

  #dispatch(): void {
    const data = this.#data;
    const name = this.#name;
    this.#data = null;
    this.#name = null;
    if (data !== null) this.#sink.event(name, data);
  }
}
