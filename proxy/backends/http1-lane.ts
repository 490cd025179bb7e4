import type { Http1Connection } from './http1-connection.ts';
import type { Duplex } from 'node:stream';

import { CallQueue, isIdempotent, isReplayable, PendingCall, ReplayableCall, type Replayer } from './pending-call.ts';
import type { PoolContext } from './pool-context.ts';
import { UpstreamError, type UpstreamCall, type UpstreamRequest } from './upstream.ts';

interface Pooled {
  readonly client: Http1Connection;
  /** It has served a call before, so the upstream may be closing it just now. */
  reused: boolean;
  /** The tick from which it must not be used any more. */
  expiresAt: number;
}

/** The HTTP/1.1 connections to one origin: the one used last is taken first, so that the others can grow old and go. */
export class Http1Lane implements Replayer<Pooled> {
  readonly #context: PoolContext;
  readonly #dial: () => void;
  readonly #open = new Set<Pooled>();
  readonly #idle: Pooled[] = [];
  readonly waiting = new CallQueue();
  #dialing = 0;
  /** No engine wants this origin: what becomes idle is closed. */
  retired = false;

  /** `dial` ends in one `adopt` or `dialFailed`. */
  constructor(context: PoolContext, dial: () => void) {
    this.#context = context;
    this.#dial = dial;
  }

  get empty(): boolean {
    return this.#open.size === 0 && this.#dialing === 0 && this.waiting.waiting === 0;
  }

  get busy(): boolean {
    return this.#open.size > this.#idle.length || this.#dialing > 0;
  }

  send(request: UpstreamRequest): UpstreamCall {
    const { tick } = this.#context;
    for (let pooled = this.#idle.pop(); pooled !== undefined; pooled = this.#idle.pop()) {
      if (pooled.client.reusable && tick.now < pooled.expiresAt) return this.#start(pooled, request, false);
      pooled.client.destroy();
    }
    return this.#wait(new PendingCall(request));
  }

  adopt(socket: Duplex, peer: string): void {
    const client = this.#context.http1(socket, peer);
    const pooled: Pooled = { client, reused: false, expiresAt: 0 };
    client.onIdle = () => this.#onIdle(pooled);
    client.onClosed = () => this.#onClosed(pooled);
    this.#open.add(pooled);
    this.#onIdle(pooled);
  }

  /** A connection that was dialled for this lane has come. */
  dialed(): void {
    this.#dialing -= 1;
  }

  /** Each waiting call has a dial under way; the oldest one in excess takes the blame. */
  dialFailed(error: unknown): void {
    this.#dialing -= 1;
    if (this.waiting.waiting > this.#dialing) this.waiting.next()?.fail(error);
  }

  /** Opens what the waiting calls lack. */
  dialForWaiting(): void {
    for (let missing = this.waiting.waiting - this.#dialing; missing > 0; missing--) {
      this.#dialing += 1;
      this.#dial();
    }
  }

  again(error: unknown, request: UpstreamRequest, pooled: Pooled): UpstreamCall | null {
    const stale = error instanceof UpstreamError && error.kind === 'reset' && !pooled.client.started;
    return stale && !this.#context.closed ? this.#wait(new PendingCall(request, true)) : null;
  }

  sweep(): void {
    const { now } = this.#context.tick;
    for (const pooled of this.#idle.filter((each) => this.retired || each.expiresAt <= now)) pooled.client.destroy();
  }

  closeIdle(): void {
    for (const pooled of this.#idle.splice(0)) pooled.client.destroy();
  }

  close(error: UpstreamError): void {
    this.waiting.failAll(error);
    for (const pooled of this.#open) pooled.client.destroy(error);
  }

  #wait(call: PendingCall): UpstreamCall {
    this.waiting.push(call);
    this.dialForWaiting();
    return call;
  }

  #start(pooled: Pooled, request: UpstreamRequest, secondTry: boolean): UpstreamCall {
    const call = pooled.client.send(request);
    if (!pooled.reused || secondTry || !isIdempotent(request.method) || !isReplayable(request)) return call;
    return new ReplayableCall({ call, request, connection: pooled }, this);
  }

  #onIdle(pooled: Pooled): void {
    const { tick, maxIdle, closed } = this.#context;
    const call = this.waiting.next();
    if (call !== undefined) call.start(this.#start(pooled, call.request, call.secondTry));
    else if (closed || this.retired || this.#idle.length >= maxIdle) pooled.client.destroy();
    else {
      pooled.expiresAt = tick.now + this.#idleTicks(pooled.client.keepAliveHintMs);
      this.#idle.push(pooled);
    }
    pooled.reused = true;
  }

  /** A second less than the upstream announces: its clock began before ours. */
  #idleTicks(hintMs: number | null): number {
    const { idleTicks, tick } = this.#context;
    return hintMs === null ? idleTicks : Math.max(1, Math.min(idleTicks, Math.floor((hintMs - 1000) / tick.ms)));
  }

  #onClosed(pooled: Pooled): void {
    this.#open.delete(pooled);
    const at = this.#idle.lastIndexOf(pooled);
    if (at !== -1) this.#idle.splice(at, 1);
  }
}
