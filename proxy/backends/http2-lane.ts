import type { Socket } from 'node:net';

import { Http2Client, UnprocessedError } from './http2-client.ts';
import { CallQueue, isIdempotent, isReplayable, PendingCall, ReplayableCall, type Replayer } from './pending-call.ts';
import type { PoolContext } from './pool-context.ts';
import { UpstreamError, type UpstreamCall, type UpstreamRequest } from './upstream.ts';

/** How often silent connections are tried. */
const ALIVE_EVERY_MS = 15_000;

interface Session {
  readonly client: Http2Client;
  /** It has answered a call before. */
  reused: boolean;
  idleSince: number;
}

/** The HTTP/2 connections to one origin: usually one; another is opened when the peer's limit of streams is reached. */
export class Http2Lane implements Replayer<Session> {
  readonly #context: PoolContext;
  readonly #dial: () => void;
  /** Oldest first; calls go to the newest with room. */
  readonly #sessions: Session[] = [];
  readonly waiting = new CallQueue();
  retired = false;

  /** `dial` is asked for a connection; asking while one is on its way does nothing. */
  constructor(context: PoolContext, dial: () => void) {
    this.#context = context;
    this.#dial = dial;
  }

  get empty(): boolean {
    return this.#sessions.length === 0 && this.waiting.waiting === 0;
  }

  get busy(): boolean {
    for (const session of this.#sessions) if (session.client.openStreams > 0) return true;
    return false;
  }

  send(request: UpstreamRequest): UpstreamCall {
    const session = this.#withRoom();
    return session === undefined ? this.#wait(new PendingCall(request)) : this.#start(session, request, false);
  }

  adopt(socket: Socket, peer: string): void {
    const client = new Http2Client(socket, { ...this.#context.http2, peer });
    const session: Session = { client, reused: false, idleSince: this.#context.tick.now };
    client.onSettled = () => this.drain();
    client.onRoom = () => this.#onRoom(session);
    client.onClosed = () => this.#onClosed(session);
    this.#sessions.push(session);
    this.drain();
  }

  /** Starts waiting calls as far as there is room; what remains asks for another connection. */
  drain(): void {
    for (let session = this.#withRoom(); session !== undefined; session = this.#withRoom()) {
      const call = this.waiting.next();
      if (call === undefined) return;
      call.start(this.#start(session, call.request, call.secondTry));
    }
    if (this.waiting.waiting > 0) this.#dialForMore();
  }

  again(error: unknown, request: UpstreamRequest, session: Session): UpstreamCall | null {
    if (this.#context.closed) return null;
    if (error instanceof UnprocessedError) return this.#elsewhere(request, session);
    const stale = error instanceof UpstreamError && error.kind === 'reset' && session.reused && !session.client.usable;
    return stale && isIdempotent(request.method) ? this.#elsewhere(request, session) : null;
  }

  sweep(): void {
    const { tick, idleTicks } = this.#context;
    const check = tick.now % Math.max(1, Math.round(ALIVE_EVERY_MS / tick.ms)) === 0;
    for (const session of this.#sessions) {
      const { client } = session;
      if (client.openStreams > 0) {
        if (check) client.checkAlive();
      } else if (this.retired || tick.now - session.idleSince >= idleTicks) client.close();
    }
  }

  closeIdle(): void {
    for (const session of this.#sessions) if (session.client.openStreams === 0) session.client.close();
  }

  close(error: UpstreamError): void {
    this.waiting.failAll(error);
    for (const session of this.#sessions.slice()) session.client.destroy();
  }

  #withRoom(): Session | undefined {
    return this.#sessions.findLast((session) => session.client.hasRoom);
  }

  #wait(call: PendingCall): UpstreamCall {
    this.waiting.push(call);
    this.#dialForMore();
    return call;
  }

  /** A connection that has not told its limit yet may have room for all. */
  #dialForMore(): void {
    if (!this.#sessions.some(({ client }) => client.usable && !client.settled)) this.#dial();
  }

  /** The connection that refused gets no second try of the same call. */
  #elsewhere(request: UpstreamRequest, refused: Session): UpstreamCall {
    const other = this.#sessions.findLast((session) => session !== refused && session.client.hasRoom);
    return other === undefined ? this.#wait(new PendingCall(request, true)) : other.client.send(request);
  }

  #start(session: Session, request: UpstreamRequest, secondTry: boolean): UpstreamCall {
    const call = session.client.send(request);
    return !secondTry && isReplayable(request)
      ? new ReplayableCall({ call, request, connection: session }, this)
      : call;
  }

  #onRoom(session: Session): void {
    session.reused = true;
    session.idleSince = this.#context.tick.now;
    if (this.waiting.waiting > 0) this.drain();
    else if (this.retired && session.client.openStreams === 0) session.client.close();
  }

  #onClosed(session: Session): void {
    const at = this.#sessions.indexOf(session);
    if (at !== -1) this.#sessions.splice(at, 1);
    if (this.waiting.waiting > 0) this.drain();
  }
}
