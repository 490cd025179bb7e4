import type { Duplex } from 'node:stream';

import { dial } from './dial.ts';
import { ForwardedCall, forwardedRequest } from './forward-proxy.ts';
import { Http1Lane } from './http1-lane.ts';
import { Http2Lane } from './http2-lane.ts';
import { failedCall, CallQueue, PendingCall } from './pending-call.ts';
import type { PoolContext } from './pool-context.ts';
import { UpstreamError, type Origin, type UpstreamCall, type UpstreamRequest } from './upstream.ts';

/** The connections to one origin. Which HTTP version an `auto` origin speaks is learned from its first connection. */
export class OriginPool {
  readonly origin: Origin;
  readonly #context: PoolContext;
  readonly #http1: Http1Lane;
  readonly #http2: Http2Lane;
  /** Calls that wait to learn the version. */
  readonly #undecided = new CallQueue();
  #version: 'http1' | 'http2' | 'unknown';
  #probing = false;
  lastUsed: number;

  constructor(origin: Origin, context: PoolContext) {
    this.origin = origin;
    this.#context = context;
    this.lastUsed = context.tick.now;
    this.#version = origin.protocol === 'auto' ? (origin.tls === null ? 'http1' : 'unknown') : origin.protocol;
    this.#http1 = new Http1Lane(context, () => void this.#dialHttp1());
    this.#http2 = new Http2Lane(context, () => this.#probe());
  }

  /** Nothing is open, under way or wanted. */
  get empty(): boolean {
    return !this.#probing && this.#http1.empty && this.#http2.empty && this.#undecided.waiting === 0;
  }

  get busy(): boolean {
    return this.#probing || this.#http1.busy || this.#http2.busy;
  }

  set retired(value: boolean) {
    this.#http1.retired = value;
    this.#http2.retired = value;
  }

  send(request: UpstreamRequest): UpstreamCall {
    this.lastUsed = this.#context.tick.now;
    const { proxy, address } = this.origin;
    if (proxy === undefined || proxy.mode === 'connect') return this.#send(request);
    return new ForwardedCall(this.#send(forwardedRequest(request, address, proxy)));
  }

  #send(request: UpstreamRequest): UpstreamCall {
    if (this.#version === 'http1') return this.#http1.send(request);
    if (request.upgrade !== null) return this.#upgrade(request);
    return this.#version === 'http2' ? this.#http2.send(request) : this.#wait(request);
  }

  sweep(): void {
    this.#http1.sweep();
    this.#http2.sweep();
  }

  closeIdle(): void {
    this.#http1.closeIdle();
    this.#http2.closeIdle();
  }

  close(error: UpstreamError): void {
    this.#undecided.failAll(error);
    this.#http1.close(error);
    this.#http2.close(error);
  }

  /** Only HTTP/1.1 can upgrade: an origin that was not forced to HTTP/2 gets a connection of that kind. */
  #upgrade(request: UpstreamRequest): UpstreamCall {
    if (this.origin.protocol !== 'http2') return this.#http1.send(request);
    return failedCall(request, new UpstreamError('protocol', `HTTP/2 cannot be upgraded to ${request.upgrade}`));
  }

  #wait(request: UpstreamRequest): UpstreamCall {
    const call = new PendingCall(request);
    this.#undecided.push(call);
    this.#probe();
    return call;
  }

  /** One connection that settles the version; those who ask meanwhile share it. */
  #probe(): void {
    if (this.#probing) return;
    this.#probing = true;
    void this.#settleVersion().catch((error: unknown) => {
      this.#probing = false;
      this.#undecided.failAll(error);
      this.#http2.waiting.failAll(error);
    });
  }

  async #settleVersion(): Promise<void> {
    const { origin } = this;
    const { resolver, signal, onConnected } = this.#context;
    const dialed = await dial(origin, { resolver, signal, onConnected, alpn: origin.tls?.alpn ?? [] });
    this.#probing = false;
    const http2 = origin.protocol === 'http2' || dialed.alpn === 'h2';
    this.#version = http2 ? 'http2' : 'http1';
    if (http2) {
      this.#undecided.moveTo(this.#http2.waiting);
      this.#http2.adopt(dialed.socket, dialed.peer);
      return;
    }
    this.#undecided.moveTo(this.#http1.waiting);
    this.#http2.waiting.moveTo(this.#http1.waiting);
    this.#http1.adopt(dialed.socket, dialed.peer);
    this.#http1.dialForWaiting();
  }

  async #dialHttp1(): Promise<void> {
    const { resolver, signal, onConnected } = this.#context;
    let connected: { readonly socket: Duplex; readonly peer: string };
    try {
      connected = await dial(this.origin, { resolver, signal, onConnected, alpn: http1Alpn(this.origin) });
    } catch (error) {
      this.#http1.dialFailed(error);
      return;
    }
    this.#http1.dialed();
    this.#http1.adopt(connected.socket, connected.peer);
  }
}

/** What is offered when HTTP/2 is of no use. */
function http1Alpn(origin: Origin): readonly string[] {
  const offer = origin.tls?.alpn.filter((protocol) => protocol !== 'h2') ?? [];
  return offer.length > 0 ? offer : ['http/1.1'];
}
