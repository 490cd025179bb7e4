import { parseMessage } from '../../message/parse.ts';
import { writeMessage } from '../../message/write.ts';
import { messageOf } from '../../../../src/shared/errors.ts';
import type { RpcMessage } from '../../message/message.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../../targets/contract.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { KeptSession, SessionStore } from '../store.ts';
import { type FromOwner, gone, notTheirs, type Place, type ToOwner, type Way } from './messages.ts';
import { arrived } from './relayed-call.ts';
import { RelayedTrace } from './relayed-trace.ts';
import { bodyOf, sent } from './sent-failure.ts';

/** A session that other threads may go on with. */
export interface OwnedSession extends KeptSession {
  /** Null where it has no conversation with the target. */
  connection(target: string): TargetConnection | null;
}

/** What of a store the relay needs. */
export interface OwnedStore extends Pick<SessionStore<OwnedSession>, 'hold' | 'end'> {
  /** `foreign`: another client began it. Counts as use. */
  find(id: string, exchange: Exchange): OwnedSession | 'foreign' | null;
}

/** Serves what other threads ask of sessions that live in this one. */
export class OwnedSessions {
  readonly #stores = new Map<string, OwnedStore>();
  readonly #offered = new Map<string, OwnedStore>();
  readonly #ways = new Set<Way<FromOwner, ToOwner>>();

  /** The sessions of a backend, by its definition, for when its configuration is live. */
  offer(backend: string, store: OwnedStore): void {
    this.#offered.set(backend, store);
  }

  /** What has been offered since the last time is all there is. */
  settle(): void {
    this.#stores.clear();
    for (const [backend, store] of this.#offered) this.#stores.set(backend, store);
    this.#offered.clear();
  }

  /** Another thread has opened a way. */
  serve(way: Way<FromOwner, ToOwner>): void {
    const visitor = new Visitor(way, this.#stores);
    this.#ways.add(way);
    way.on('message', (message) => visitor.heard(message));
    way.on('close', () => {
      this.#ways.delete(way);
      visitor.left();
    });
    way.unref();
  }

  close(): void {
    for (const way of this.#ways) way.close();
  }
}

interface UnderWay {
  readonly calling: Calling;
  readonly release: () => void;
}

/** One other thread, and what it has under way here. */
class Visitor {
  readonly #way: Way<FromOwner, ToOwner>;
  readonly #stores: ReadonlyMap<string, OwnedStore>;
  readonly #calls = new Map<number, UnderWay>();
  readonly #traces = new Map<number, RelayedTrace>();

  constructor(way: Way<FromOwner, ToOwner>, stores: ReadonlyMap<string, OwnedStore>) {
    this.#way = way;
    this.#stores = stores;
  }

  heard(message: ToOwner): void {
    switch (message.kind) {
      case 'cancel':
        this.#calls.get(message.id)?.calling.cancel();
        this.#over(message.id);
        this.#told(message.id);
        break;
      case 'pause':
      case 'resume':
        this.#calls.get(message.id)?.calling[message.kind]();
        break;
      default:
        this.#ask(message);
    }
  }

  /** The other thread has ended: its clients are gone. */
  left(): void {
    for (const [id, { calling }] of this.#calls) {
      calling.cancel();
      this.#over(id);
    }
  }

  #ask(message: Exclude<ToOwner, { readonly kind: 'cancel' | 'pause' | 'resume' }>): void {
    const { id, at } = message;
    if (message.call.trace !== null) this.#traces.set(id, new RelayedTrace(message.call.trace, id, this.#way));
    const call = arrived(message.call, this.#traces.get(id)?.recorder ?? null);
    const session = this.#stores.get(at.backend)?.find(at.session, call.exchange) ?? null;
    const connection = session === 'foreign' ? session : (session?.connection(at.target) ?? null);
    if (connection === null || connection === 'foreign') {
      this.#end(id, connection === null ? gone : notTheirs);
      return;
    }
    if (message.kind === 'close') void this.#close(id, at, () => connection.close(call));
    else if (message.kind === 'listen') this.#begin(message, 'stream', (sink) => connection.listen(call, sink));
    else this.#say({ ...message, connection, call });
  }

  #say(what: Said): void {
    const { id, text, connection, call } = what;
    const parsed = parseMessage(text);
    if (parsed.kind !== 'message') this.#end(id, { kind: 'rpc', error: parsed.error });
    else if (parsed.message.kind === 'request') {
      const { message } = parsed;
      this.#begin(what, 'call', (sink) => connection.request(message, call, sink));
    } else void this.#settle(id, connection.post(parsed.message, call));
  }

  #begin({ id, at }: Asked, what: 'call' | 'stream', start: (sink: CallSink) => Calling): void {
    let ended = false;
    const release = this.#stores.get(at.backend)?.hold(at.session, what) ?? (() => {});
    const calling = start({
      onOpen: () => this.#way.postMessage({ kind: 'open', id }),
      onMessage: (message: RpcMessage) => this.#way.postMessage({ kind: 'message', id, text: writeMessage(message) }),
      onEnd: (failure) => {
        ended = true;
        this.#over(id);
        this.#end(id, failure);
      },
    });
    if (ended) release();
    else this.#calls.set(id, { calling, release });
  }

  async #settle(id: number, outcome: Promise<TargetFailure | null>): Promise<void> {
    try {
      this.#end(id, await outcome);
    } catch (error) {
      this.#end(id, { kind: 'broken', message: messageOf(error) });
    }
  }

  /** The client has ended the session, not this conversation alone. */
  async #close(id: number, at: Place, close: () => Promise<TargetFailure | null>): Promise<void> {
    await this.#settle(id, close());
    this.#stores.get(at.backend)?.end(at.session)?.close();
  }

  #end(id: number, failure: TargetFailure | null): void {
    const response = bodyOf(failure);
    if (response === null) void this.#sendEnd(id, failure);
    else {
      // Its body may be slow: whoever leaves meanwhile ends it.
      const reading = { cancel: () => response.body.cancel(), pause() {}, resume() {} };
      this.#calls.set(id, { calling: reading, release() {} });
      void this.#sendEnd(id, failure);
    }
  }

  async #sendEnd(id: number, failure: TargetFailure | null): Promise<void> {
    const told = failure?.kind === 'http' ? await sent(failure) : failure;
    this.#calls.delete(id);
    this.#way.postMessage({ kind: 'end', id, failure: told });
    this.#told(id);
  }

  /** Nothing more is begun for the call. */
  #told(id: number): void {
    this.#traces.get(id)?.release();
    this.#traces.delete(id);
  }

  #over(id: number): void {
    const underWay = this.#calls.get(id);
    this.#calls.delete(id);
    underWay?.release();
  }
}

interface Asked {
  readonly id: number;
  readonly at: Place;
}

interface Said extends Asked {
  readonly text: string;
  readonly connection: TargetConnection;
  readonly call: TargetCall;
}
