import type { Duplex } from 'node:stream';

import type { Body, BodySink } from '../exchange/body.ts';
import type { Headers } from '../exchange/headers.ts';

/** How the body of a message that goes out is delimited. */
export type OutgoingFraming = 'none' | 'length' | 'chunked' | 'close';

export interface OutgoingOptions {
  readonly socket: Duplex;
  /** Start line and fields, with the empty line. */
  readonly head: string;
  readonly framing: OutgoingFraming;
  readonly body: Body;
  /** Called once: all bytes are with the socket, or the body broke. Never called after `abandon`. */
  readonly onDone: (bytes: number, error: Error | null) => void;
}

/** Up to here, head and data are copied into one buffer: one small copy costs less than one more system call. */
const JOIN_LIMIT = 16 * 1024;

/** Writes one message: head and first data in one system call, data as it comes, under the socket's back-pressure. */
export class Outgoing implements BodySink {
  readonly #socket: Duplex;
  readonly #framing: OutgoingFraming;
  readonly #body: Body;
  readonly #onDone: (bytes: number, error: Error | null) => void;
  #pending: (string | Uint8Array)[];
  #gathering = false;
  #needsDrain = false;
  #finished = false;
  #expected: number;
  bytes = 0;

  constructor(options: OutgoingOptions) {
    this.#socket = options.socket;
    this.#framing = options.framing;
    this.#body = options.body;
    this.#onDone = options.onDone;
    this.#pending = [options.head];
    this.#expected = options.framing === 'length' ? (options.body.length ?? 0) : Number.POSITIVE_INFINITY;
  }

  start(): void {
    if (this.#framing === 'none') {
      this.#flush();
      this.#body.cancel();
      this.#finish(null);
      return;
    }
    this.#gathering = true;
    this.#body.pipe(this);
    this.#gathering = false;
    this.#flush();
  }

  onData(chunk: Uint8Array): void {
    if (this.#finished) return;
    const length = chunk.byteLength;
    if (length === 0) return;
    this.bytes += length;
    if (this.bytes > this.#expected) {
      this.onError(new Error('the body is longer than its content-length'));
      this.#body.cancel();
      return;
    }
    if (this.#framing === 'chunked') this.#pending.push(`${length.toString(16)}\r\n`, chunk, '\r\n');
    else this.#pending.push(chunk);
    if (!this.#gathering || this.bytes > JOIN_LIMIT) this.#flush();
  }

  onEnd(trailers: Headers | null): void {
    if (this.#finished) return;
    if (this.bytes < this.#expected && this.#framing === 'length') {
      this.onError(new Error('the body is shorter than its content-length'));
      return;
    }
    if (this.#framing === 'chunked') this.#pending.push(lastChunk(trailers));
    this.#flush();
    this.#finish(null);
  }

  onError(error: Error): void {
    if (this.#finished) return;
    this.#flush();
    this.#finish(error);
  }

  /** The socket takes data again. */
  onDrain(): void {
    if (!this.#needsDrain) return;
    this.#needsDrain = false;
    this.#body.resume();
  }

  /** The socket is gone: stop without a word to the owner, who knows. */
  abandon(): void {
    if (this.#finished) return;
    this.#finished = true;
    this.#pending = [];
    this.#body.cancel();
  }

  #finish(error: Error | null): void {
    this.#finished = true;
    this.#onDone(this.bytes, error);
  }

  #flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    if (this.#write(pending) || this.#needsDrain || this.#finished) return;
    this.#needsDrain = true;
    this.#body.pause();
  }

  #write(pieces: readonly (string | Uint8Array)[]): boolean {
    const first = pieces[0];
    if (pieces.length === 1 && first !== undefined) return writePiece(this.#socket, first);
    let total = 0;
    for (const piece of pieces) total += piece.length;
    if (total <= JOIN_LIMIT) return this.#socket.write(join(pieces, total));
    this.#socket.cork();
    let open = true;
    for (const piece of pieces) open = writePiece(this.#socket, piece);
    this.#socket.uncork();
    return open;
  }
}

function writePiece(socket: Duplex, piece: string | Uint8Array): boolean {
  return typeof piece === 'string' ? socket.write(piece, 'latin1') : socket.write(piece);
}

function join(pieces: readonly (string | Uint8Array)[], total: number): Buffer {
  const joined = Buffer.allocUnsafe(total);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') joined.write(piece, at, 'latin1');
    else joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

function lastChunk(trailers: Headers | null): string {
  if (trailers === null) return '0\r\n\r\n';
  let text = '0\r\n';
  for (const [name, value] of trailers) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}
