import { withoutClientFeatures } from '../../message/meta.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../../message/message.ts';
import { resultFor } from '../../message/result-fields.ts';
import { withTraceContext } from '../../message/trace-context.ts';
import type { Era } from '../../message/versions.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure, TargetState } from '../contract.ts';
import { Acquaintance } from './acquaintance.ts';
import { reply } from './ask.ts';
import type { Peer } from './handshake.ts';
import type { PeerParts } from './peer-parts.ts';
import { deniesEra, dropped, explained, losesSession } from './rejection.ts';
import { Relay } from './relay.ts';
import { SessionStream } from './session-stream.ts';
import { discovered, legacyRequest, setLevel, Subscription, unwantedLog } from './to-legacy.ts';
import { endFor, failed, ToModern } from './to-modern.ts';
import { eraFor, inVersion, unrestorable } from './words.ts';
import { Wishes } from './wishes.ts';

/** A request under way, and what has been tried for it. */
interface Errand {
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly era: Era;
  readonly relay: Relay;
  /** The session was forgotten once, or the target refused its generation. */
  readonly retried: boolean;
}

/** A conversation with a target of either generation, for a client of either generation. */
export class PeerSession implements TargetConnection {
  readonly #parts: PeerParts;
  readonly #connection: TargetConnection;
  readonly #wishes = new Wishes();
  readonly #acquaintance: Acquaintance;
  readonly #toModern: ToModern;

  constructor(parts: PeerParts) {
    this.#parts = parts;
    this.#connection = parts.connection;
    this.#acquaintance = new Acquaintance(parts, this.#wishes);
    this.#toModern = new ToModern(parts, this.#wishes);
  }

  get state(): TargetState | null {
    return this.#connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const own = { ...message, params: withTraceContext(message.params, call.headers) };
    const relay = new Relay(sink);
    if (message.method === 'initialize') this.#acquaintance.introduce(own, call, relay);
    else this.#go({ message: own, call, era: eraFor(call), relay, retried: false });
    return relay;
  }

  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    const peer = await this.#acquaintance.settled();
    // The target has heard nothing yet, so there is nothing that this could be about.
    if (peer === null) return null;
    if (peer.era === 'modern' && eraFor(call) === 'legacy') return this.#toModern.post(message, call);
    const introduces = message.kind === 'notification' && message.method === 'notifications/initialized';
    if (introduces && !this.#acquaintance.introduced) return null;
    const failure = await this.#connection.post(message, inVersion(call, peer));
    // What a client notes is about a session that is gone; the next request begins a new one.
    return failure?.kind === 'forgotten' && message.kind === 'notification' ? null : failure;
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    const relay = new Relay(sink);
    const { answers } = this.#parts.options;
    const [connection, acquaintance, toModern] = [this.#connection, this.#acquaintance, this.#toModern];
    new SessionStream({ connection, acquaintance, toModern, call, relay, answers }).open();
    return relay;
  }

  close(call: TargetCall | null): Promise<TargetFailure | null> {
    const peer = this.#acquaintance.end();
    return this.#connection.close(call === null || peer === null ? call : inVersion(call, peer));
  }

  leave(): void {
    this.#acquaintance.leave();
    this.#connection.leave();
  }

  #go(errand: Errand): void {
    const peer = this.#acquaintance.known(errand.era);
    if (peer !== null) this.#send(errand, peer);
    else
      void this.#acquaintance.meet(errand).then((met) => {
        if (errand.relay.over) return undefined;
        if (met.kind === 'peer') return this.#send(errand, met);
        // To a legacy client, a status is about its session.
        return errand.era === 'modern' ? errand.relay.onEnd(met) : endFor(errand.message, errand.relay, met);
      });
  }

  #send(errand: Errand, peer: Peer): void {
    const { message, call, era, relay } = errand;
    if (era === peer.era) this.#pass(errand, peer);
    else if (peer.era === 'modern') {
      const refused = (failure: TargetFailure): boolean => this.#changed(failure, errand, peer);
      this.#toModern.request(message, { call, hello: this.#acquaintance.hello, relay, refused });
    } else void this.#toLegacy(errand, peer);
  }

  /** Both sides speak the same. */
  #pass(errand: Errand, peer: Peer): void {
    const { message, call, era, relay } = errand;
    const params =
      era === 'legacy' && !this.#parts.options.answers ? withoutClientFeatures('', message.params) : message.params;
    const own = params === message.params ? message : { ...message, params };
    if (peer.version === '' && call.version !== null) this.#parts.options.onResumed?.(call.version);
    relay.carry(this.#connection.request(own, inVersion(call, peer), this.#sinkOf(errand, peer)));
    if (era === 'legacy') this.#wishes.note(message);
  }

  async #toLegacy(errand: Errand, peer: Peer): Promise<void> {
    const { message, relay } = errand;
    const call = inVersion(errand.call, peer);
    if (message.method === 'server/discover' && peer.told !== null) {
      relay.answer(discovered(message, peer.told));
      return;
    }
    if (message.method === 'subscriptions/listen' && peer.told !== null) {
      const { clock } = this.#parts.options;
      new Subscription(this.#connection, message, { call, relay, clock }).open(peer.told);
      return;
    }
    await setLevel(this.#connection, message, { call, peer });
    if (relay.over) return;
    relay.carry(this.#connection.request(legacyRequest(message), call, this.#sinkOf(errand, peer)));
  }

  #sinkOf(errand: Errand, peer: Peer): CallSink {
    const { message, era, relay } = errand;
    let refused = false;
    return {
      onMessage: (each) => {
        if (each.kind === 'request') this.#asked(each, errand, peer);
        else if (each.kind === 'result') relay.answer({ ...each, result: resultFor(era, message.method, each.result) });
        else if (each.kind === 'error') {
          refused = this.#changed({ kind: 'rpc', error: each.error }, errand, peer);
          if (!refused) relay.answer(each);
        } else if (era === peer.era || !unwantedLog(each, message)) relay.onMessage(each);
      },
      onEnd: (failure) => (refused ? undefined : this.#ended(failure, errand, peer)),
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
    if (this.#changed(failure, errand, peer)) return;
    const lost = peer.era === 'legacy' && losesSession(failure, this.state);
    if (!retried && lost) this.#again(errand, peer, failure);
    else if (peer.era === errand.era) relay.onEnd(failure);
    else endFor(message, relay, failure);
  }

  /** The target does not speak the generation any more that it has spoken before: it is met anew, and asked once more. */
  #changed(failure: TargetFailure, errand: Errand, peer: Peer): boolean {
    const { relay, retried } = errand;
    if (retried || relay.delivered || relay.over || !deniesEra(peer.era, failure)) return false;
    this.#parts.knowledge.doubt(peer.era);
    this.#again(errand, peer, failure);
    return true;
  }

  #again(errand: Errand, peer: Peer, failure: TargetFailure): void {
    if (errand.retried || errand.relay.delivered || errand.relay.over) {
      errand.relay.onEnd(failure);
      return;
    }
    dropped(failure);
    if (this.#acquaintance.forget(peer)) this.#go({ ...errand, retried: true });
    else errand.relay.onEnd(unrestorable);
  }
}
