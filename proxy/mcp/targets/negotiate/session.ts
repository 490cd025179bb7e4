import type { Clock } from '../../../exchange/wait.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../../message/message.ts';
import { resultFor } from '../../message/result-fields.ts';
import { withTraceContext } from '../../message/trace-context.ts';
import { type Era, eraOf, FIRST_MODERN_VERSION, LATEST_LEGACY_VERSION } from '../../message/versions.ts';
import { withoutClientFeatures } from '../../message/meta.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure, TargetState } from '../contract.ts';
import { attempt, reply } from './ask.ts';
import { mayKeep } from './kept-addresses.ts';
import { type Hello, helloIn, helloOf, meet, type Peer } from './handshake.ts';
import { introduce } from './introduction.ts';
import type { Knowledge } from './knowledge.ts';
import type { ParamHeaders } from './param-headers.ts';
import { deniesSession, dropped, explained } from './rejection.ts';
import { Opening } from './opening.ts';
import { Relay } from './relay.ts';
import { discovered, legacyRequest, setLevel, Subscription } from './to-legacy.ts';
import { endFor, failed, ToModern } from './to-modern.ts';
import { legacyVersion } from './words.ts';

export interface NegotiatingOptions {
  /** How the gateway calls itself where no client has told its name. */
  readonly identity: { readonly name: string; readonly version: string };
  /** Answers of clients to what targets ask find their way back: there are sessions. Else targets are told that nobody can be asked. */
  readonly answers: boolean;
  readonly clock: Clock;
  /** Told with which version a conversation goes on, and what the target has told of itself, where it was asked. */
  readonly onMet?: ((version: string, told: JsonObject | null) => void) | undefined;
}

export interface PeerParts {
  readonly name: string;
  readonly connection: TargetConnection;
  readonly knowledge: Knowledge;
  readonly paramHeaders: ParamHeaders;
  readonly options: NegotiatingOptions;
  readonly state: TargetState | null;
}

/** A request under way, and what has been tried for it. */
interface Errand {
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly era: Era;
  readonly relay: Relay;
  /** The session was forgotten once, or the target refused its generation. */
  readonly retried: boolean;
}

/** What somebody wants to meet the target for; without a message, what it tells of itself is wanted. */
type Meeting = Pick<Errand, 'call' | 'era' | 'relay'> & { readonly message?: RpcRequest };

/** A conversation with a target of either generation, for a client of either generation. */
export class PeerSession implements TargetConnection {
  readonly #parts: PeerParts;
  readonly #connection: TargetConnection;
  readonly #toModern: ToModern;
  #peer: Peer | null;
  #opening: Opening | null = null;
  #hello: Hello;
  /** The client's own `initialize` is what the target has heard. */
  #introduced: boolean;
  /** The session was begun elsewhere: what its client is and had asked for is not known here. */
  #stranger: boolean;
  #level: RpcRequest | null = null;
  readonly #subscriptions = new Map<string, RpcRequest>();

  constructor(parts: PeerParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#toModern = new ToModern(parts.connection, parts.paramHeaders, parts.options.answers);
    // Whoever has a session id has been through the handshake.
    const resumed = parts.state?.session !== undefined;
    this.#peer = resumed ? { kind: 'peer', era: 'legacy', version: '', told: null } : null;
    this.#introduced = resumed;
    this.#stranger = resumed;
    this.#hello = { clientInfo: { ...parts.options.identity }, capabilities: {}, version: LATEST_LEGACY_VERSION };
  }

  get state(): TargetState | null {
    return this.#connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const params = withTraceContext(message.params, call.headers);
    const relay = new Relay(sink);
    const era = message.method === 'initialize' ? 'legacy' : eraFor(call);
    const errand: Errand = { message: { ...message, params }, call, era, relay, retried: false };
    if (message.method === 'initialize') this.#introduce(errand);
    else this.#go(errand);
    return relay;
  }

  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    if (this.#opening !== null) await this.#opening.met;
    const peer = this.#peer;
    // The target has heard nothing yet, so there is nothing that this could be about.
    if (peer === null) return null;
    if (peer.era === 'modern' && eraFor(call) === 'legacy') return this.#toModern.post(message, call);
    const introduces = message.kind === 'notification' && message.method === 'notifications/initialized';
    if (introduces && !this.#introduced) return null;
    const failure = await this.#connection.post(message, inVersion(call, peer));
    // What a client notes is about a session that is gone; the next request begins a new one.
    return failure?.kind === 'forgotten' && message.kind === 'notification' ? null : failure;
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    const relay = new Relay(sink);
    this.#listen(call, relay, false);
    return relay;
  }

  close(call: TargetCall | null): Promise<TargetFailure | null> {
    this.#opening?.cancel();
    const peer = this.#peer;
    this.#peer = null;
    return this.#connection.close(call === null || peer === null ? call : inVersion(call, peer));
  }

  leave(): void {
    this.#opening?.cancel();
    this.#connection.leave();
  }

  #go(errand: Errand): void {
    const peer = (this.#peer ??= this.#knownModern(errand.era));
    if (peer !== null) this.#send(errand, peer);
    else
      void this.#meet(errand).then((met) => {
        if (errand.relay.over) return undefined;
        if (met.kind === 'peer') return this.#send(errand, met);
        // To a legacy client, a status is about its session.
        return errand.era === 'modern' ? errand.relay.onEnd(met) : endFor(errand.message, errand.relay, met);
      });
  }

  /** There is no handshake, and most conversations are one request long. */
  #knownModern(era: Era): Peer | null {
    const known = era === 'modern' && this.#opening === null && this.#parts.knowledge.speaks('modern') === true;
    return known ? { kind: 'peer', era: 'modern', version: FIRST_MODERN_VERSION, told: null } : null;
  }

  #send(errand: Errand, peer: Peer): void {
    const { message, call, era, relay } = errand;
    if (era === peer.era) this.#pass(errand, peer);
    else if (peer.era === 'modern') this.#toModern.request(message, { call, hello: this.#hello, relay });
    else void this.#toLegacy(errand, peer);
  }

  /** Both sides speak the same. */
  #pass(errand: Errand, peer: Peer): void {
    const { message, call, era, relay } = errand;
    const params =
      era === 'legacy' && !this.#parts.options.answers ? withoutClientFeatures('', message.params) : message.params;
    const own = params === message.params ? message : { ...message, params };
    relay.carry(this.#connection.request(own, inVersion(call, peer), this.#sinkOf(errand, peer)));
    if (era === 'legacy') this.#remember(message);
  }

  async #toLegacy(errand: Errand, peer: Peer): Promise<void> {
    const { message, relay } = errand;
    const call = inVersion(errand.call, peer);
    if (message.method === 'server/discover' && peer.told !== null) {
      relay.answer(discovered(message, peer.told));
      return;
    }
    if (message.method === 'subscriptions/listen' && peer.told !== null) {
      await new Subscription(this.#connection, message, { call, relay }).open(peer.told);
      return;
    }
    await setLevel(this.#connection, message, { call, peer });
    if (relay.over) return;
    relay.carry(this.#connection.request(legacyRequest(message), call, this.#sinkOf(errand, peer)));
  }

  #sinkOf(errand: Errand, peer: Peer): CallSink {
    const { message, era, relay } = errand;
    return {
      onMessage: (each) => {
        if (each.kind === 'request') this.#asked(each, errand, peer);
        else if (each.kind === 'result') relay.answer({ ...each, result: resultFor(era, message.method, each.result) });
        else if (each.kind === 'error') relay.answer(each);
        else relay.onMessage(each);
      },
      onEnd: (failure) => this.#ended(failure, errand, peer),
    };
  }

  /** A target wants something of the client. */
  #asked(request: RpcRequest, { message, call, era, relay }: Errand, peer: Peer): void {
    if (era === 'legacy' && this.#parts.options.answers) {
      relay.onMessage(request);
      return;
    }
    if (era === 'legacy' || request.method === 'ping') {
      reply(this.#connection, request, inVersion(call, peer));
      return;
    }
    const why = `the target asked ${request.method} in the middle of a call; clients of this version are asked with an input_required result`;
    relay.abort(failed(message, { code: rpcCodes.internal, message: why }));
  }

  #ended(failure: TargetFailure | null, errand: Errand, peer: Peer): void {
    const { relay } = errand;
    if (failure === null || relay.over) relay.onEnd(failure);
    // A session that is not known was not asked: nothing has happened yet, whatever the request wants.
    else if (failure.kind === 'forgotten') this.#again(errand, peer, failure);
    else if (failure.kind !== 'http') relay.onEnd(failure);
    else void explained(failure).then((known) => this.#refused(known, errand, peer));
  }

  #refused(failure: TargetFailure, errand: Errand, peer: Peer): void {
    const { message, relay, retried } = errand;
    if (peer.era === 'modern' && !retried && hasChanged(failure)) {
      this.#parts.knowledge.learn('modern', false);
      this.#again(errand, peer, failure);
    } else if (!retried && this.#lost(failure, peer)) this.#again(errand, peer, failure);
    else if (peer.era === errand.era) relay.onEnd(failure);
    else endFor(message, relay, failure);
  }

  #again(errand: Errand, peer: Peer, failure: TargetFailure): void {
    if (errand.retried || errand.relay.delivered || errand.relay.over) {
      errand.relay.onEnd(failure);
      return;
    }
    dropped(failure);
    if (this.#stranger) {
      errand.relay.onEnd(unrestorable);
      return;
    }
    if (this.#peer === peer) this.#peer = null;
    this.#go({ ...errand, retried: true });
  }

  #listen(call: TargetCall, relay: Relay, retried: boolean): void {
    const peer = this.#peer;
    if (peer === null) {
      void this.#meet({ call, era: 'legacy', relay }).then((met) => {
        if (relay.over) return undefined;
        return met.kind === 'peer' ? this.#listen(call, relay, retried) : relay.onEnd(met);
      });
      return;
    }
    if (peer.era === 'modern') {
      relay.carry(this.#toModern.listen(call, this.#hello, relay));
      return;
    }
    let lasted = false;
    const sink: CallSink = {
      onOpen: () => {
        lasted = true;
        relay.onOpen();
      },
      onMessage: (message) => {
        if (message.kind === 'request' && !this.#parts.options.answers)
          reply(this.#connection, message, inVersion(call, peer));
        else relay.onMessage(message);
      },
      onEnd: (failure) => {
        // One that was there may be opened anew each time that the target restarts.
        if (failure === null || (retried && !lasted) || relay.over) relay.onEnd(failure);
        else void explained(failure).then((known) => this.#unheard(known, { call, relay, peer }));
      },
    };
    relay.carry(this.#connection.listen(inVersion(call, peer), sink));
  }

  #unheard(failure: TargetFailure, { call, relay, peer }: { call: TargetCall; relay: Relay; peer: Peer }): void {
    if (relay.over || !this.#lost(failure, peer)) {
      relay.onEnd(failure);
      return;
    }
    dropped(failure);
    if (this.#stranger) {
      relay.onEnd(unrestorable);
      return;
    }
    if (this.#peer === peer) this.#peer = null;
    this.#listen(call, relay, true);
  }

  #lost(failure: TargetFailure, peer: Peer): boolean {
    if (failure.kind === 'forgotten') return true;
    return peer.era === 'legacy' && this.state?.session !== undefined && deniesSession(failure);
  }

  #introduce({ message, call, relay }: Errand): void {
    const { name, knowledge, options } = this.#parts;
    this.#hello = helloOf(message.params, options.answers);
    this.#introduced = false;
    this.#stranger = false;
    this.#peer = null;
    introduce({
      name,
      connection: this.#connection,
      knowledge,
      answers: options.answers,
      message,
      call,
      relay,
      met: (peer) => {
        this.#met(peer);
        this.#introduced = true;
      },
      meet: () => this.#meet({ call, era: 'modern', relay }),
    });
  }

  async #meet(errand: Meeting): Promise<Peer | TargetFailure> {
    const own = this.#opening === null;
    const opening = (this.#opening ??= new Opening(errand.call, (stop) => this.#open(errand, stop)));
    const met = await opening.join(errand.relay);
    // Whoever began it has left, and it broke for that alone.
    const again = met.kind !== 'peer' && !own && opening.call.exchange.clientGone && !errand.relay.over;
    return again ? this.#meet(errand) : met;
  }

  async #open({ call, era, message }: Meeting, stop: AbortSignal): Promise<Peer | TargetFailure> {
    const hello =
      era === 'modern' && message !== undefined ? helloIn(message.params, this.#hello) : this.#helloFor(call);
    const { knowledge } = this.#parts;
    const curious = message === undefined;
    const peer = await meet(era, { connection: this.#connection, knowledge, call, hello, curious, stop });
    if (peer.kind === 'peer' && peer.era === 'legacy') await this.#restore(call, peer);
    this.#opening = null;
    if (peer.kind === 'peer') this.#met(peer);
    return peer;
  }

  #met(peer: Peer): void {
    this.#peer = peer;
    this.#parts.options.onMet?.(peer.version, peer.told);
  }

  #helloFor(call: TargetCall): Hello {
    return eraFor(call) === 'legacy' && call.version !== null && !this.#introduced
      ? { ...this.#hello, version: legacyVersion(call.version) }
      : this.#hello;
  }

  /** What the client had asked the session to be like. */
  async #restore(call: TargetCall, peer: Peer): Promise<void> {
    const own = inVersion(call, peer);
    if (this.#level !== null) await attempt(this.#connection, { ...this.#level, id: 'gw-level' }, own);
    let count = 0;
    for (const request of this.#subscriptions.values())
      await attempt(this.#connection, { ...request, id: `gw-subscribe-${count++}` }, own);
  }

  #remember(message: RpcRequest): void {
    const uri = message.params?.['uri'];
    if (message.method === 'logging/setLevel') this.#level = message;
    else if (typeof uri !== 'string') return;
    else if (message.method === 'resources/unsubscribe') this.#subscriptions.delete(uri);
    else if (message.method === 'resources/subscribe' && mayKeep(this.#subscriptions, uri))
      this.#subscriptions.set(uri, message);
  }
}

/** Its client would talk to a session that is not the one that it knows: it has to begin anew. */
const unrestorable: TargetFailure = {
  kind: 'forgotten',
  message: 'the target knows the session no more, and what it was like is not known here',
};

function eraFor(call: TargetCall): Era {
  return call.version === null ? 'legacy' : eraOf(call.version);
}

/** A session that was resumed goes on in the client's version: that of the target was agreed elsewhere. */
function inVersion(call: TargetCall, { version }: Peer): TargetCall {
  return version === '' || version === call.version ? call : { ...call, version };
}

/** The target spoke the modern versions once, and does not any more. */
function hasChanged(failure: TargetFailure): boolean {
  if (failure.kind !== 'http') return false;
  return failure.error === undefined
    ? failure.status === 400 || failure.status === 404 || failure.status === 405
    : failure.error.code === rpcCodes.unsupportedVersion;
}
