import type { JsonObject } from '../../../../src/shared/json.ts';
import { rpcCodes } from '../../message/codes.ts';
import type {
  RequestId,
  RpcAnswer,
  RpcFailure,
  RpcMessage,
  RpcNotification,
  RpcRequest,
} from '../../message/message.ts';
import { metaOf, withEnvelope, withMeta } from '../../message/meta.ts';
import { resultFor } from '../../message/result-fields.ts';
import { FIRST_MODERN_VERSION } from '../../message/versions.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import type { Hello } from './handshake.ts';
import { inputNeeded, InputRound } from './input-required.ts';
import { explained } from './rejection.ts';
import { Relay } from './relay.ts';
import { LOG_LEVEL_META, SUBSCRIPTION_META } from './words.ts';

/** A server that never has enough must not keep a client busy for ever. */
const MAX_ROUNDS = 16;

/** A legacy client at a modern target: what sessions held is said anew with each request. */
export class ToModern {
  readonly #connection: TargetConnection;
  /** Whether answers of the client find their way back. */
  readonly #answers: boolean;
  readonly #rounds = new Map<RequestId, { round: InputRound; settle: (failure: RpcFailure | null) => void }>();
  readonly #subscribed = new Set<string>();
  readonly #listeners = new Set<ModernListener>();
  #level: string | undefined;
  #nextId = 1;

  constructor(connection: TargetConnection, answers: boolean) {
    this.#connection = connection;
    this.#answers = answers;
  }

  request(message: RpcRequest, parts: { call: TargetCall; hello: Hello; relay: Relay }): void {
    const { relay } = parts;
    if (this.#known(message)) {
      relay.answer({ kind: 'result', id: message.id, result: {} });
      return;
    }
    this.#ask(message, parts, 0);
  }

  /** Null when it was taken. */
  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    if (message.kind === 'notification') {
      if (message.method !== 'notifications/cancelled') return null;
      return this.#connection.post(message, inModern(call));
    }
    const waiting = message.id === null ? undefined : this.#rounds.get(message.id);
    if (waiting === undefined) return null;
    const failure = waiting.round.take(message);
    if (message.id !== null) this.#rounds.delete(message.id);
    if (failure !== null || waiting.round.complete) waiting.settle(failure);
    return null;
  }

  listen(call: TargetCall, hello: Hello, sink: CallSink): Calling {
    const open = (id: RequestId, relay: CallSink): Calling => {
      const notifications = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        ...(this.#subscribed.size > 0 ? { resourceSubscriptions: [...this.#subscribed] } : {}),
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
  #known({ method, params }: RpcRequest): boolean {
    const { uri, level } = params ?? {};
    switch (method) {
      case 'ping':
        return true;
      case 'logging/setLevel':
        if (typeof level === 'string') this.#level = level;
        return true;
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        if (typeof uri !== 'string') return false;
        if (method === 'resources/subscribe') this.#subscribed.add(uri);
        else this.#subscribed.delete(uri);
        for (const listener of this.#listeners) listener.open();
        return true;
      default:
        return false;
    }
  }

  #ask(message: RpcRequest, parts: { call: TargetCall; hello: Hello; relay: Relay }, rounds: number): void {
    const { call, hello, relay } = parts;
    const params = envelope(message.params, hello, this.#level);
    relay.carry(
      this.#connection.request({ ...message, params }, inModern(call), {
        onMessage: (each) => this.#heard(each, message, { ...parts, rounds }),
        onEnd: (failure) => {
          if (failure === null) return;
          void explained(failure).then((known) => endFor(message, relay, known));
        },
      }),
    );
  }

  #heard(
    each: RpcMessage,
    message: RpcRequest,
    parts: { call: TargetCall; hello: Hello; relay: Relay; rounds: number },
  ): void {
    const { relay } = parts;
    if (each.kind === 'notification') relay.onMessage(each);
    else if (each.kind === 'error') relay.answer(each);
    else if (each.kind === 'request')
      relay.abort(
        failed(message, {
          code: rpcCodes.internal,
          message: 'the target asked in a way that its version does not have',
        }),
      );
    else {
      const needed = inputNeeded(each.result);
      if (needed === null) relay.answer({ ...each, result: resultFor('legacy', message.method, each.result) });
      else this.#round(message, parts, new InputRound(needed, () => `gw-input-${this.#nextId++}`));
    }
  }

  #round(
    message: RpcRequest,
    parts: { call: TargetCall; hello: Hello; relay: Relay; rounds: number },
    round: InputRound,
  ): void {
    const { relay, rounds } = parts;
    const possible = round.requests.length === 0 || this.#answers;
    if (!possible || rounds >= MAX_ROUNDS) {
      const why = possible
        ? 'the target asks for more and more'
        : 'the target needs answers of the client, and there is no session';
      relay.answer(failed(message, { code: rpcCodes.internal, message: why }));
      return;
    }
    const again = (failure: RpcFailure | null): void => {
      this.#forget(round);
      if (relay.over) return;
      if (failure !== null) relay.answer(failed(message, failure));
      else this.#ask({ ...message, params: round.answered(message.params) }, parts, rounds + 1);
    };
    for (const { id } of round.requests) this.#rounds.set(id, { round, settle: again });
    relay.onCancel = () => this.#forget(round);
    for (const request of round.requests) relay.onMessage(request);
    if (round.requests.length === 0) again(null);
  }

  #forget(round: InputRound): void {
    for (const id of round.openIds) this.#rounds.delete(id);
  }
}

/** The stream of a legacy client, fed by a subscription that is made anew when it wants other resources. */
class ModernListener implements Calling {
  readonly #sink: CallSink;
  readonly #open: (relay: CallSink) => Calling;
  readonly #onOver: () => void;
  #current: { calling: Calling | null } | null = null;
  #paused = false;
  #over = false;

  constructor(sink: CallSink, open: (relay: CallSink) => Calling, onOver: () => void) {
    this.#sink = sink;
    this.#open = open;
    this.#onOver = onOver;
  }

  open(): void {
    const before = this.#current;
    const current: { calling: Calling | null } = { calling: null };
    this.#current = current;
    current.calling = this.#open({
      onMessage: (message) => {
        if (this.#over || this.#current !== current || message.kind !== 'notification') return;
        if (message.method !== 'notifications/subscriptions/acknowledged') this.#sink.onMessage(unsubscribed(message));
      },
      onEnd: (failure) => {
        if (this.#over || this.#current !== current) return;
        this.#finish();
        this.#sink.onEnd(failure);
      },
    });
    if (this.#paused) current.calling.pause();
    before?.calling?.cancel();
  }

  cancel(): void {
    if (this.#over) return;
    this.#finish();
    this.#current?.calling?.cancel();
  }

  pause(): void {
    this.#paused = true;
    this.#current?.calling?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#current?.calling?.resume();
  }

  #finish(): void {
    this.#over = true;
    this.#onOver();
  }
}

function unsubscribed(message: RpcNotification): RpcNotification {
  if (metaOf(message.params)?.[SUBSCRIPTION_META] === undefined) return message;
  return { ...message, params: withMeta(message.params, { [SUBSCRIPTION_META]: undefined }) };
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

function envelope(params: JsonObject | undefined, hello: Hello, level: string | undefined): JsonObject {
  const { clientInfo, capabilities: clientCapabilities } = hello;
  const said = withEnvelope(params, { version: FIRST_MODERN_VERSION, clientInfo, clientCapabilities });
  return level === undefined ? said : withMeta(said, { [LOG_LEVEL_META]: level });
}

function inModern(call: TargetCall): TargetCall {
  return { ...call, version: FIRST_MODERN_VERSION };
}
