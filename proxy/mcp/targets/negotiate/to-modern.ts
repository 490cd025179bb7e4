import type { JsonObject, JsonValue } from '../../../../src/shared/json.ts';
import { rpcCodes } from '../../message/codes.ts';
import type {
  RequestId,
  RpcAnswer,
  RpcFailure,
  RpcMessage,
  RpcNotification,
  RpcRequest,
} from '../../message/message.ts';
import { withEnvelope, withMeta } from '../../message/meta.ts';
import { resultFor } from '../../message/result-fields.ts';
import { FIRST_MODERN_VERSION } from '../../message/versions.ts';
import { cancelledBy } from '../cancellation.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { ask } from './ask.ts';
import type { Hello } from './handshake.ts';
import { inputNeeded, InputRound } from './input-required.ts';
import { ModernListener } from './modern-listener.ts';
import type { ParamHeaders } from './param-headers.ts';
import type { PeerParts } from './peer-parts.ts';
import { dropped, explained } from './rejection.ts';
import type { Relay } from './relay.ts';
import type { Wishes } from './wishes.ts';
import { LOG_LEVEL_META } from './words.ts';

/** A server that never has enough must not keep a client busy for ever. */
const MAX_ROUNDS = 16;
/** Of a list of tools that is read for what it says about headers. */
const MAX_PAGES = 64;

/** A call of the client on its way, and what has been done for it. */
interface Errand {
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly hello: Hello;
  readonly relay: Relay;
  /** Told why the target refuses it; true where it is asked in another way. */
  readonly refused: (failure: TargetFailure) => boolean;
  readonly rounds: number;
  /** The list of tools has been read for it. */
  readonly informed: boolean;
}

interface OpenRound {
  readonly errand: Errand;
  readonly round: InputRound;
}

/** A legacy client at a modern target: what sessions held is said anew with each request. */
export class ToModern {
  readonly #connection: TargetConnection;
  readonly #paramHeaders: ParamHeaders;
  /** Whether answers of the client find their way back. */
  readonly #answers: boolean;
  /** By the ids of what the client is asked. */
  readonly #rounds = new Map<RequestId, OpenRound>();
  readonly #wishes: Wishes;
  readonly #listeners = new Set<ModernListener>();
  #nextId = 1;

  constructor({ connection, paramHeaders, options }: PeerParts, wishes: Wishes) {
    this.#connection = connection;
    this.#paramHeaders = paramHeaders;
    this.#answers = options.answers;
    this.#wishes = wishes;
  }

  request(message: RpcRequest, parts: Pick<Errand, 'call' | 'hello' | 'relay' | 'refused'>): void {
    if (this.#known(message)) parts.relay.answer({ kind: 'result', id: message.id, result: {} });
    else this.#ask({ message, ...parts, rounds: 0, informed: false });
  }

  /** Null when it was taken. */
  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    if (message.kind !== 'notification') {
      this.#answered(message);
      return null;
    }
    const id = cancelledBy(message);
    // Everything else is about sessions.
    if (id === null) return null;
    for (const open of this.#rounds.values())
      if (open.errand.message.id === id) {
        this.#forget(open.round);
        open.errand.relay.onEnd(null);
      }
    return this.#connection.post(message, inModern(call));
  }

  listen(call: TargetCall, hello: Hello, sink: CallSink): Calling {
    const open = (id: RequestId, relay: CallSink): Calling => {
      const { subscribed } = this.#wishes;
      const notifications = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        ...(subscribed.length > 0 ? { resourceSubscriptions: subscribed } : {}),
      };
      const params = envelope({ notifications }, hello, undefined);
      return this.#connection.request(
        { kind: 'request', id, method: 'subscriptions/listen', params },
        inModern(call),
        relay,
      );
    };
    const listener: ModernListener = new ModernListener(
      sink,
      (relay) => open(`gw-listen-${this.#nextId++}`, relay),
      () => this.#listeners.delete(listener),
    );
    this.#listeners.add(listener);
    listener.open();
    return listener;
  }

  /** What went with the sessions: the gateway does it itself. */
  #known(message: RpcRequest): boolean {
    if (message.method === 'ping') return true;
    // What is too much here is the target's to refuse: it does not know the method.
    if (!this.#wishes.note(message)) return false;
    if (message.method !== 'logging/setLevel') for (const listener of this.#listeners) listener.open();
    return true;
  }

  #ask(errand: Errand): void {
    const { message, call, hello, relay } = errand;
    const params = envelope(message.params, hello, this.#wishes.level);
    const headers = message.method === 'tools/call' ? this.#paramHeaders.added(call.headers, params) : call.headers;
    let answered = false;
    relay.carry(
      this.#connection.request({ ...message, params }, inModern({ ...call, headers }), {
        onMessage: (each) => {
          answered ||= each.kind === 'result' || each.kind === 'error';
          this.#heard(each, errand);
        },
        onEnd: (failure) => {
          if (failure !== null) void explained(failure).then((known) => this.#failed(known, errand));
          else if (!answered) relay.onEnd(null);
        },
      }),
    );
  }

  #heard(each: RpcMessage, errand: Errand): void {
    const { message, relay } = errand;
    if (each.kind === 'notification') relay.onMessage(each);
    else if (each.kind === 'error') this.#failed({ kind: 'rpc', error: each.error }, errand);
    else if (each.kind === 'request') {
      const why = 'the target asked in a way that its version does not have';
      relay.abort(failed(message, { code: rpcCodes.internal, message: why }));
    } else this.#result(each.result, errand);
  }

  #result(result: JsonObject, errand: Errand): void {
    const { message, relay } = errand;
    if (message.method === 'tools/list') this.#paramHeaders.learn(result);
    const needed = inputNeeded(result);
    if (needed !== null) this.#round(errand, new InputRound(needed, () => `gw-input-${this.#nextId++}`));
    else relay.answer({ kind: 'result', id: message.id, result: resultFor('legacy', message.method, result) });
  }

  #failed(failure: TargetFailure, errand: Errand): void {
    const { message, relay, rounds, informed } = errand;
    const code = failure.kind === 'rpc' || failure.kind === 'http' ? failure.error?.code : undefined;
    if (code === rpcCodes.headerMismatch && message.method === 'tools/call' && !informed && !relay.over) {
      dropped(failure);
      void this.#readTools(errand).then(() => (relay.over ? undefined : this.#ask({ ...errand, informed: true })));
    } else if (rounds === 0 && errand.refused(failure)) return;
    else if (failure.kind === 'rpc') relay.answer(failed(message, failure.error));
    else endFor(message, relay, failure);
  }

  /** Some tools want headers that only the list of tools tells. */
  async #readTools({ call, hello, relay }: Errand): Promise<void> {
    let cursor: JsonValue | undefined;
    for (let page = 1; page <= MAX_PAGES && !relay.over; page++) {
      const params = envelope(cursor === undefined ? {} : { cursor }, hello, undefined);
      const request = { kind: 'request', id: `gw-tools-${this.#nextId++}`, method: 'tools/list', params } as const;
      const answer = await ask(this.#connection, request, inModern(call));
      if (answer.kind !== 'result') {
        dropped(answer);
        return;
      }
      this.#paramHeaders.learn(answer.result);
      cursor = answer.result['nextCursor'];
      if (cursor === undefined) return;
    }
  }

  #round(errand: Errand, round: InputRound): void {
    const { message, relay, rounds } = errand;
    const possible = round.requests.length === 0 || this.#answers;
    if (!possible || rounds >= MAX_ROUNDS) {
      const why = possible
        ? 'the target asks for more and more'
        : 'the target needs answers of the client, and there is no session';
      relay.answer(failed(message, { code: rpcCodes.internal, message: why }));
      return;
    }
    for (const { id } of round.requests) this.#rounds.set(id, { round, errand });
    relay.onCancel = () => this.#forget(round);
    for (const request of round.requests) relay.onMessage(request);
    if (round.requests.length === 0) this.#settle({ round, errand }, null);
  }

  #answered(answer: RpcAnswer): void {
    const open = answer.id === null ? undefined : this.#rounds.get(answer.id);
    if (open === undefined || answer.id === null) return;
    this.#rounds.delete(answer.id);
    const failure = open.round.take(answer);
    if (failure !== null || open.round.complete) this.#settle(open, failure);
  }

  #settle({ round, errand }: OpenRound, failure: RpcFailure | null): void {
    const { message, relay, rounds } = errand;
    const open = [...round.openIds];
    this.#forget(round);
    if (relay.over) return;
    if (failure !== null) {
      for (const requestId of open) relay.onMessage(notAsked(requestId));
      relay.answer(failed(message, failure));
    } else
      this.#ask({ ...errand, message: { ...message, params: round.answered(message.params) }, rounds: rounds + 1 });
  }

  #forget(round: InputRound): void {
    for (const id of round.openIds) this.#rounds.delete(id);
  }
}

/** To a client of the other generation the status means something else; the error does not. */
export function endFor(message: RpcRequest, relay: Relay, failure: TargetFailure): void {
  if (failure.kind === 'http' && failure.error !== undefined) {
    failure.response?.body.cancel();
    relay.answer(failed(message, failure.error));
  } else if (failure.kind === 'http' && failure.status === 404) {
    failure.response?.body.cancel();
    relay.onEnd({ kind: 'broken', message: failure.message });
  } else relay.onEnd(failure);
}

export function failed(message: RpcRequest, error: RpcFailure): RpcMessage {
  return { kind: 'error', id: message.id, error };
}

function envelope(params: JsonObject | undefined, hello: Hello, level: JsonValue | undefined): JsonObject {
  const { clientInfo, capabilities: clientCapabilities } = hello;
  const said = withEnvelope(params, { version: FIRST_MODERN_VERSION, clientInfo, clientCapabilities });
  return level === undefined ? said : withMeta(said, { [LOG_LEVEL_META]: level });
}

/** One question was not answered, so nobody waits for the answers to the others. */
function notAsked(requestId: RequestId): RpcNotification {
  return {
    kind: 'notification',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'the call has failed' },
  };
}

function inModern(call: TargetCall): TargetCall {
  return { ...call, version: FIRST_MODERN_VERSION };
}
