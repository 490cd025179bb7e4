import type { Duplex } from 'node:stream';

import { Http1Client } from '../http1/client.ts';
import { FieldParser } from '../http1/fields.ts';
import { DEFAULT_MAX_HEAD_BYTES, DEFAULT_MAX_HEADERS } from '../http1/limits.ts';
import { type ConnectedListener, dial } from './dial.ts';
import type { Resolver } from './dns.ts';
import type { Http1ConnectionFactory } from './http1-connection.ts';
import { OriginPool } from './origin-pool.ts';
import { failedCall } from './pending-call.ts';
import type { PoolContext, Tick } from './pool-context.ts';
import { UpstreamError, type Origin, type UpstreamCall, type UpstreamPools, type UpstreamRequest } from './upstream.ts';

export interface UpstreamPoolsOptions {
  readonly resolver: Resolver;
  readonly poolIdleTimeoutMs: number;
  /** Most idle HTTP/1.1 connections per origin; undefined is no cap. */
  readonly poolMaxSize?: number | undefined;
  readonly maxHeadBytes?: number | undefined;
  readonly maxHeaders?: number | undefined;
  /** Write header names to HTTP/1.1 upstreams as the client spelled them, and keep how upstreams spell theirs. */
  readonly preserveCase?: boolean | undefined;
  /** Most origins of dynamic backends that are kept open at a time. */
  readonly maxEphemeralOrigins?: number | undefined;
  readonly http1?: Http1ConnectionFactory | undefined;
  readonly onConnected?: ConnectedListener | undefined;
}

const TICK_MS = 1000;
const MAX_EPHEMERAL_ORIGINS = 512;

/** The upstream connections of one data thread. */
export function createUpstreamPools(options: UpstreamPoolsOptions): PoolSet {
  return new PoolSet(options);
}

export class PoolSet implements UpstreamPools {
  readonly #pools = new Map<string, OriginPool>();
  readonly #context: PoolContext & { closed: boolean };
  readonly #abort = new AbortController();
  readonly #tick: Tick = { now: 0, ms: TICK_MS };
  readonly #timer: NodeJS.Timeout;
  readonly #maxEphemeral: number;
  #ephemeral = 0;

  constructor(options: UpstreamPoolsOptions) {
    this.#maxEphemeral = options.maxEphemeralOrigins ?? MAX_EPHEMERAL_ORIGINS;
    const maxHeadBytes = options.maxHeadBytes ?? DEFAULT_MAX_HEAD_BYTES;
    const maxHeaders = options.maxHeaders ?? DEFAULT_MAX_HEADERS;
    this.#context = {
      tick: this.#tick,
      resolver: options.resolver,
      http1: options.http1 ?? http1Factory({ maxHeadBytes, maxHeaders, preserveCase: options.preserveCase ?? false }),
      http2: { maxHeadBytes, maxHeaders },
      onConnected: options.onConnected,
      maxIdle: options.poolMaxSize ?? Number.POSITIVE_INFINITY,
      idleTicks: Math.max(1, Math.ceil(options.poolIdleTimeoutMs / TICK_MS)),
      signal: this.#abort.signal,
      closed: false,
    };
    this.#timer = setInterval(() => this.sweep(), TICK_MS).unref();
  }

  send(origin: Origin, request: UpstreamRequest): UpstreamCall {
    if (this.#context.closed) return failedCall(request, closing());
    return (this.#pools.get(origin.key) ?? this.#open(origin)).send(request);
  }

  async openTunnel(origin: Origin, signal?: AbortSignal): Promise<Duplex> {
    if (this.#context.closed) throw closing();
    const { resolver, onConnected } = this.#context;
    const options = { resolver, onConnected, alpn: origin.tls?.alpn ?? [] };
    const own = this.#abort.signal;
    const dialed = await dial(origin, {
      ...options,
      signal: signal === undefined ? own : AbortSignal.any([own, signal]),
    });
    return dialed.socket;
  }

  retainOnly(keys: ReadonlySet<string>): void {
    for (const [key, pool] of this.#pools) {
      if (pool.origin.ephemeral === true) continue;
      pool.retired = !keys.has(key);
      if (!keys.has(key)) pool.closeIdle();
    }
  }

  /** One second passes: what has been idle for too long is closed, what is not needed any more forgotten. */
  sweep(): void {
    this.#tick.now += 1;
    for (const [key, pool] of this.#pools) {
      pool.sweep();
      if (pool.empty && this.#tick.now - pool.lastUsed > this.#context.idleTicks) this.#forget(key, pool);
    }
  }

  close(): void {
    if (this.#context.closed) return;
    this.#context.closed = true;
    clearInterval(this.#timer);
    const error = closing();
    this.#abort.abort(error);
    for (const pool of this.#pools.values()) pool.close(error);
    this.#pools.clear();
  }

  #open(origin: Origin): OriginPool {
    if (origin.ephemeral === true) {
      if (this.#ephemeral >= this.#maxEphemeral) this.#makeRoom();
      this.#ephemeral += 1;
    }
    const pool = new OriginPool(origin, this.#context);
    this.#pools.set(origin.key, pool);
    return pool;
  }

  /** Closes the dynamic origin that has been unused for longest; those in use are never cut. */
  #makeRoom(): void {
    let oldest: OriginPool | undefined;
    for (const pool of this.#pools.values()) {
      if (pool.origin.ephemeral !== true || pool.busy) continue;
      if (oldest === undefined || pool.lastUsed < oldest.lastUsed) oldest = pool;
    }
    if (oldest === undefined) return;
    oldest.closeIdle();
    this.#forget(oldest.origin.key, oldest);
  }

  #forget(key: string, pool: OriginPool): void {
    this.#pools.delete(key);
    if (pool.origin.ephemeral === true) this.#ephemeral -= 1;
  }
}

function closing(): UpstreamError {
  return new UpstreamError('cancelled', 'the gateway is shutting down');
}

interface Http1Limits {
  readonly maxHeadBytes: number;
  readonly maxHeaders: number;
  readonly preserveCase: boolean;
}

function http1Factory(limits: Http1Limits): Http1ConnectionFactory {
  const fields = new FieldParser({ keepSpelling: limits.preserveCase });
  return (socket, peer) => new Http1Client(socket, { ...limits, peer, fields });
}
