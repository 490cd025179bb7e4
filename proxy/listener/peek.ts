import type { Socket } from 'node:net';

/** What the bytes read so far say: nothing yet, or a decision. */
export type PeekDecision<T> = { readonly kind: 'more' } | { readonly kind: 'done'; readonly value: T };

export type PeekFailure =
  /** The deadline passed. */
  | 'timeout'
  /** The client ended or lost the connection. */
  | 'closed'
  /** Undecided after `maxBytes`. */
  | 'tooLong';

export interface PeekOptions<T> {
  readonly socket: Socket;
  /** Bytes that an earlier step has read and not used. */
  readonly first: Buffer | null;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  decide(bytes: Buffer): PeekDecision<T>;
  /** Gets every byte read so far. The socket still flows: take over its `data` before returning, or pause it. */
  onDone(value: T, bytes: Buffer): void;
  onFailed(failure: PeekFailure, bytes: Buffer): void;
}

/**
 * Reads the beginning of a connection until it tells what the client speaks. It works inside the `data` event, so that the
 * usual connection, whose first segment decides, costs neither a pause nor a turn of the loop.
 */
export function peek<T>(options: PeekOptions<T>): void {
  const running = new Peek(options);
  running.start();
}

class Peek<T> {
  readonly #options: PeekOptions<T>;
  readonly #timer: NodeJS.Timeout;
  #bytes: Buffer;

  constructor(options: PeekOptions<T>) {
    this.#options = options;
    this.#bytes = options.first ?? Buffer.alloc(0);
    this.#timer = setTimeout(() => this.#fail('timeout'), options.deadlineMs);
  }

  start(): void {
    const { socket } = this.#options;
    socket.on('data', this.#onData);
    socket.on('end', this.#onEnd);
    socket.on('close', this.#onEnd);
    socket.resume();
    if (this.#bytes.length > 0) this.#decide();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
    this.#decide();
  };

  readonly #onEnd = (): void => this.#fail('closed');

  #decide(): void {
    const decision = this.#options.decide(this.#bytes);
    if (decision.kind === 'done') {
      this.#stop();
      this.#options.onDone(decision.value, this.#bytes);
    } else if (this.#bytes.length >= this.#options.maxBytes) {
      this.#fail('tooLong');
    }
  }

  #fail(failure: PeekFailure): void {
    this.#stop();
    this.#options.onFailed(failure, this.#bytes);
  }

  #stop(): void {
    const { socket } = this.#options;
    clearTimeout(this.#timer);
    socket.off('data', this.#onData);
    socket.off('end', this.#onEnd);
    socket.off('close', this.#onEnd);
  }
}
