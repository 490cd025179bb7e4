import { randomFillSync } from 'node:crypto';

/** A span's place in a distributed trace, as W3C Trace Context names it. Ids are lower-case hex, never all zero. */
export interface TraceContext {
  /** 32 digits. */
  readonly traceId: string;
  /** 16 digits. */
  readonly spanId: string;
  /** Bit 0: sampled. Bit 1: the trace id is random. */
  readonly flags: number;
}

export const SAMPLED = 1;

const KNOWN_FLAGS = 3;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[\u0020-\u007e]*)?$/;
const ZERO_TRACE = '0'.repeat(32);
const ZERO_SPAN = '0'.repeat(16);
/** Longer ones are not looked at: later versions may add fields, but no client needs more. */
const MAX_LENGTH = 256;

/**
 * Reads a `traceparent` header; null when it is none. Versions after 00 may have further fields, which are ignored
 * (W3C Trace Context 3.2.4).
 */
export function parseTraceparent(text: string): TraceContext | null {
  if (text.length < 55 || text.length > MAX_LENGTH) return null;
  const parts = TRACEPARENT.exec(text);
  if (parts === null) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = parts;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return null;
  if (traceId === ZERO_TRACE || spanId === ZERO_SPAN) return null;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS };
}

/** As version 00, the only one there is. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & KNOWN_FLAGS}`;
}

const POOL_BYTES = 4096;

/** Random ids of spans and traces; random bytes are fetched in blocks, as one call per id costs more than the id. */
export class SpanIds {
  readonly #fill: (pool: Buffer) => void;
  readonly #pool = Buffer.allocUnsafe(POOL_BYTES);
  #used = POOL_BYTES;

  constructor(fill: (pool: Buffer) => void = randomFillSync) {
    this.#fill = fill;
  }

  traceId(): string {
    return this.#take(16, ZERO_TRACE);
  }

  spanId(): string {
    return this.#take(8, ZERO_SPAN);
  }

  #take(bytes: number, zero: string): string {
    for (;;) {
      if (this.#used + bytes > POOL_BYTES) {
        this.#fill(this.#pool);
        this.#used = 0;
      }
      const id = this.#pool.toString('hex', this.#used, this.#used + bytes);
      this.#used += bytes;
      if (id !== zero) return id;
    }
  }
}
