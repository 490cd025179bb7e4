import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

export interface SpliceEnd {
  readonly outcome: 'closed' | 'idle' | 'clientReset' | 'backendReset' | 'cut';
  readonly bytesReceived: number;
  readonly bytesSent: number;
  readonly error: Error | null;
}

export interface SpliceOptions {
  readonly idleMs: number;
  readonly onEnd: (end: SpliceEnd) => void;
  /** Looks at what the backend sends; never holds it. */
  readonly onBackendData?: ((chunk: Buffer) => void) | null | undefined;
  /** What bytes pass on their way, by the side that they come from. */
  readonly through?: { readonly fromClient: Duplex; readonly fromBackend: Duplex } | null | undefined;
}

/** Copies bytes between a client and a backend until both directions have ended, or one side breaks. */
export class Splice {
  readonly #client: Duplex;
  readonly #backend: Duplex;
  readonly #onEnd: (end: SpliceEnd) => void;
  readonly #onBackendData: ((chunk: Buffer) => void) | null;
  readonly #idleMs: number;
  readonly #through: { readonly fromClient: Duplex; readonly fromBackend: Duplex } | null;
  readonly #timer: NodeJS.Timeout;
  #moved = true;
  #open = 2;
  #over = false;
  #received = 0;
  #sent = 0;

  /** Cuts the connection when nothing moved for `idleMs` (checked twice in that time, so up to 1.5 times as long). */
  constructor(client: Duplex, backend: Duplex, options: SpliceOptions) {
    this.#client = client;
    this.#backend = backend;
    this.#idleMs = options.idleMs;
    this.#onEnd = options.onEnd;
    this.#onBackendData = options.onBackendData ?? null;
    this.#through = options.through ?? null;
    this.#timer = setInterval(() => this.#checkIdle(), Math.max(1, this.#idleMs / 2));
    this.#timer.unref();
  }

  start(): void {
    keepHalfOpen(this.#client);
    keepHalfOpen(this.#backend);
    this.#watch(this.#client, 'clientReset');
    this.#watch(this.#backend, 'backendReset');
    const received = ({ length }: Buffer): void => void (this.#received += length);
    const sent = ({ length }: Buffer): void => void (this.#sent += length);
    const seen = (chunk: Buffer): void => this.#onBackendData?.(chunk);
    if (this.#through === null) {
      this.#copy(this.#client, this.#backend, received);
      this.#copy(this.#backend, this.#client, (chunk) => {
        sent(chunk);
        seen(chunk);
      });
      return;
    }
    const { fromClient, fromBackend } = this.#through;
    this.#open = 4;
    fromClient.on('error', (error: Error) => this.#finish('cut', error));
    fromBackend.on('error', (error: Error) => this.#finish('cut', error));
    this.#copy(this.#client, fromClient, received);
    this.#copy(fromClient, this.#backend, () => {});
    this.#copy(this.#backend, fromBackend, seen);
    this.#copy(fromBackend, this.#client, sent);
  }

  #copy(from: Duplex, to: Duplex, onChunk: (chunk: Buffer) => void): void {
    from.on('data', (chunk: Buffer) => {
      this.#moved = true;
      // Before anybody looks at it: bytes never wait for that.
      const full = !to.write(chunk);
      onChunk(chunk);
      if (full) from.pause();
    });
    to.on('drain', () => {
      this.#moved = true;
      from.resume();
    });
    // The other direction may go on for long after this one has ended.
    from.on('end', () => to.end(() => this.#directionDone()));
    from.resume();
  }

  #watch(side: Duplex, reset: 'clientReset' | 'backendReset'): void {
    side.on('error', (error: Error) => this.#finish(reset, error));
    // A side that ended in order closes while its last bytes still wait for a slow reader on the other side.
    side.on('close', () => {
      if (!endedInOrder(side)) this.#finish('cut', null);
    });
  }

  #directionDone(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#finish('closed', null);
  }

  #checkIdle(): void {
    if (!this.#moved) this.#finish('idle', null);
    this.#moved = false;
  }

  #finish(outcome: SpliceEnd['outcome'], error: Error | null): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    this.#client.destroy();
    this.#backend.destroy();
    this.#through?.fromClient.destroy();
    this.#through?.fromBackend.destroy();
    this.#onEnd({ outcome, bytesReceived: this.#received, bytesSent: this.#sent, error });
  }
}

/** A plain socket that has ended one way may still be written to; it is dialled to close both ways at once. */
function keepHalfOpen(side: Duplex): void {
  if (side instanceof Socket && !(side instanceof TLSSocket)) side.allowHalfOpen = true;
}

function endedInOrder(side: Duplex): boolean {
  return side.readableEnded && side.writableFinished;
}
