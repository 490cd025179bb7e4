import { assertNever } from '../../src/shared/assert-never.ts';
import type { HeadReader } from './head-reader.ts';
import { Http1Error } from './limits.ts';
import type { Sweeper } from './sweeper.ts';

export interface TimeLimits {
  /** Longest wait for a complete head, on a new connection and between requests. */
  readonly idleTimeoutMs: number;
  /** Longest time in which nothing of a body moves. */
  readonly streamIdleTimeoutMs: number;
  readonly maxConnectionDurationMs?: number | undefined;
}

/**
 * What a connection waits for next: the first byte of a request, the rest of its head, bytes of its body that the client
 * owes or that the upstream does not take, somebody to take the response, the rest of a body that nobody wants, or the
 * client's end after the gateway's. `nothing` is a wait that is not the client's, and has its limits elsewhere.
 */
export type Awaited = 'request' | 'head' | 'body' | 'upstream' | 'response' | 'leftover' | 'end' | 'nothing';

/** How long a body that nobody wants may take to be read away. */
const DRAIN_MS = 5000;
/** How long a client may take to close after the gateway has. */
const CLOSE_MS = 2000;

/** When a connection has last moved, and whether it has waited too long. Its clock is the sweeper's: coarse, and free to read. */
export class Deadlines {
  readonly #limits: TimeLimits;
  readonly #sweeper: Sweeper;
  readonly #heads: HeadReader;
  readonly #openedAt = performance.now();
  #movedAt = this.#openedAt;
  #answeredAt = 0;
  #sent = 0;

  constructor(limits: TimeLimits, sweeper: Sweeper, heads: HeadReader) {
    this.#limits = limits;
    this.#sweeper = sweeper;
    this.#heads = heads;
  }

  /** Something came in or went out, or another wait begins. */
  moved(): void {
    this.#movedAt = this.#sweeper.now;
  }

  /** As `moved`, to the millisecond: what follows may take less than a sweep. */
  restart(): void {
    this.#movedAt = performance.now();
  }

  /** A response begins, maybe after a long wait: the next sweep takes it for a move. */
  responding(): void {
    this.#sent = -1;
  }

  /** The response has gone out. */
  answered(): void {
    this.#answeredAt = this.#sweeper.now;
  }

  /** Bytes of the response so far; those that went out since the last sweep are a move. */
  sent(bytes: number, now: number): void {
    if (bytes !== this.#sent) this.#movedAt = now;
    this.#sent = bytes;
  }

  /** The connection is open for longer than connections may be. */
  get tooOld(): boolean {
    const limit = this.#limits.maxConnectionDurationMs;
    return limit !== undefined && performance.now() - this.#openedAt > limit;
  }

  passed(awaited: Awaited, now: number): boolean {
    const { idleTimeoutMs, streamIdleTimeoutMs } = this.#limits;
    const idleMs = now - this.#movedAt;
    switch (awaited) {
      case 'request':
        return idleMs > idleTimeoutMs || this.tooOld;
      case 'head':
        // Trickled bytes do not extend the time for a head.
        return idleMs > idleTimeoutMs || now - this.#heads.startedAt > idleTimeoutMs;
      case 'body':
      case 'upstream':
      case 'response':
        return idleMs > streamIdleTimeoutMs;
      case 'leftover':
        return now - this.#answeredAt > DRAIN_MS;
      case 'end':
        return idleMs > CLOSE_MS;
      case 'nothing':
        return false;
      default:
        return assertNever(awaited);
    }
  }
}

/** What a client is told that still has to be answered. */
export function lateness(awaited: 'head' | 'body' | 'upstream'): Http1Error {
  switch (awaited) {
    case 'head':
      return new Http1Error(408, 'request head not received in time');
    case 'body':
      return new Http1Error(408, 'request body not received in time');
    case 'upstream':
      return new Http1Error(504, 'request body not taken by the upstream in time');
    default:
      return assertNever(awaited);
  }
}
