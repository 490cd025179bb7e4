import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';
import { withMeta } from '../message/meta.ts';
import type { RpcMessage, RpcNotification } from '../message/message.ts';
import { resultFor } from '../message/result-fields.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import { isMethodNotFound } from './calls/fan-out.ts';
import { refuse, type ItemCall } from './calls/item.ts';
import { broken, forwarded, isConnection, targetCall, unfit, unknownItem } from './members.ts';
import { notificationOut } from './server-requests.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';
const acknowledged = 'notifications/subscriptions/acknowledged';
const flags = ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged'] as const;
const flagOf: ReadonlyMap<string, string> = new Map([
  ['notifications/tools/list_changed', 'toolsListChanged'],
  ['notifications/prompts/list_changed', 'promptsListChanged'],
  ['notifications/resources/list_changed', 'resourcesListChanged'],
]);

/** A target is asked to pause as soon as it has agreed; not all can. */
const MOST_EARLY = 1000;

/** One target's part of a subscription. */
interface Part {
  readonly target: number;
  /** Its own address → the client's. */
  readonly uris: ReadonlyMap<string, string>;
  calling: Calling | null;
  /** What it has agreed to; null before. */
  accepted: JsonObject | null;
  /** Nothing more is wanted of it. */
  ended: boolean;
  /** It will say nothing more by itself. */
  silent: boolean;
  failure: TargetFailure | null;
}

/** `subscriptions/listen`: as many subscriptions as targets are concerned, under the client's id. */
export function listenAll(item: ItemCall): Calling {
  const { members, message, call } = item;
  const asked = message.params?.['notifications'];
  if (!isJsonObject(asked)) return refuse(item, unfit('params.notifications is missing'));
  const uris = resourceList(asked);
  const perTarget = members.plan.targets.map(() => new Map<string, string>());
  for (const uri of uris) {
    const owned = members.plan.naming.uriIn(uri);
    const target = members.plan.targets[owned?.target ?? -1];
    const { allows } = members.plan.rules;
    const allowed =
      owned !== null &&
      target !== undefined &&
      (allows === null || allows(call.exchange, { kind: 'resource', name: owned.name, target: target.name }));
    if (!allowed) return refuse(item, unknownItem(members, 'resource', uri));
    perTarget[owned.target]?.set(owned.name, uri);
  }
  const everybody = uris.length === 0 || flags.some((flag) => asked[flag] === true);
  const parts: Part[] = [];
  for (const [target, own] of perTarget.entries())
    if (everybody || own.size > 0)
      parts.push({ target, uris: own, calling: null, accepted: null, ended: false, silent: false, failure: null });
  return new Subscription(item, asked, parts).start();
}

class Subscription implements Calling {
  readonly #item: ItemCall;
  readonly #asked: JsonObject;
  readonly #parts: readonly Part[];
  /** Came from targets before the others had agreed; what has changed twice has changed. */
  readonly #early = new Map<string, RpcMessage>();
  #established = false;
  #paused = false;
  #done = false;

  constructor(item: ItemCall, asked: JsonObject, parts: readonly Part[]) {
    this.#item = item;
    this.#asked = asked;
    this.#parts = parts;
  }

  start(): this {
    for (const part of this.#parts) if (!this.#done) this.#begin(part);
    return this;
  }

  cancel(): void {
    if (this.#done) return;
    this.#done = true;
    for (const part of this.#parts) if (!part.silent) part.calling?.cancel();
    this.#item.over?.();
  }

  pause(): void {
    this.#paused = true;
    for (const part of this.#parts) part.calling?.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const part of this.#parts) if (!this.#waits(part)) part.calling?.resume();
  }

  #begin(part: Part): void {
    const { members, message, call } = this.#item;
    const connection = members.connection(part.target);
    if (!isConnection(connection)) return this.#ended(part, connection);
    const { resourceSubscriptions: _uris, ...rest } = this.#asked;
    const own = part.uris.size === 0 ? rest : { ...rest, resourceSubscriptions: [...part.uris.keys()] };
    const request = { ...message, params: { ...message.params, notifications: own } };
    const sink: CallSink = {
      onMessage: (heard) => {
        part.silent ||= heard.kind === 'result' || heard.kind === 'error';
        this.#heard(part, heard);
      },
      onEnd: (failure) => {
        part.silent = true;
        this.#ended(part, failure ?? broken('the target ended the subscription'));
      },
    };
    const calling = connection.request(request, targetCall(members, part.target, call, forwarded(call)), sink);
    part.calling = calling;
    if (part.silent) return;
    if (this.#done || part.ended) calling.cancel();
    else if (this.#paused || this.#waits(part)) calling.pause();
  }

  /** A target that has agreed is held back until the others have: the client hears of the agreement first. */
  #waits(part: Part): boolean {
    return part.accepted !== null && !this.#established;
  }

  #heard(part: Part, message: RpcMessage): void {
    if (this.#done || part.ended) return;
    if (message.kind === 'error') return this.#ended(part, { kind: 'rpc', error: message.error });
    if (message.kind === 'result') return this.#over(part);
    if (message.kind === 'request') return this.#ended(part, broken(`the target sent the request ${message.method}`));
    if (part.accepted === null) return this.#agreed(part, message);
    const told = this.#translated(part, message);
    if (told === null) return;
    this.#item.members.heard(part.target, message);
    if (this.#established) this.#item.sink.onMessage(told);
    else this.#keep(part, told);
  }

  #keep(part: Part, told: RpcNotification): void {
    const what = `${told.method}\n${String(told.params?.['uri'])}`;
    this.#early.delete(what);
    this.#early.set(what, told);
    if (this.#early.size > MOST_EARLY)
      this.#ended(part, broken('the target says too much before the others have agreed'));
  }

  #agreed(part: Part, message: RpcNotification): void {
    const accepted = message.params?.['notifications'];
    if (message.method !== acknowledged || !isJsonObject(accepted))
      return this.#ended(part, broken('the target did not acknowledge the subscription'));
    part.accepted = accepted;
    part.calling?.pause();
    this.#establish();
  }

  /** Once everybody who is left has agreed, the client is told to what. */
  #establish(): void {
    if (this.#established || this.#parts.some((part) => part.accepted === null && !part.ended)) return;
    this.#established = true;
    const { sink } = this.#item;
    sink.onMessage(
      this.#stamped({ kind: 'notification', method: acknowledged, params: { notifications: this.#all() } }),
    );
    const early = [...this.#early.values()];
    this.#early.clear();
    for (const message of early) sink.onMessage(message);
    if (!this.#paused) this.resume();
  }

  #all(): JsonObject {
    const all: Record<string, JsonValue> = {};
    for (const flag of flags) if (this.#parts.some((part) => part.accepted?.[flag] === true)) all[flag] = true;
    const agreed = new Set<string>();
    for (const part of this.#parts) {
      for (const uri of resourceList(part.accepted ?? {})) {
        const client = part.uris.get(uri);
        if (client !== undefined) agreed.add(client);
      }
    }
    const inOrder = resourceList(this.#asked).filter((uri) => agreed.has(uri));
    return inOrder.length === 0 ? all : { ...all, resourceSubscriptions: inOrder };
  }

  /** Null for what the target has not been asked for. */
  #translated(part: Part, message: RpcNotification): RpcNotification | null {
    const flag = flagOf.get(message.method);
    if (flag !== undefined) return part.accepted?.[flag] === true ? this.#stamped(message) : null;
    const uri = message.params?.['uri'];
    if (message.method !== 'notifications/resources/updated' || typeof uri !== 'string') return null;
    const wanted = resourceList(part.accepted ?? {}).some((own) => part.uris.has(own) && covers(own, uri));
    return wanted ? this.#stamped(notificationOut(this.#item.members.plan.naming, part.target, message)) : null;
  }

  #stamped(message: RpcNotification): RpcNotification {
    return { ...message, params: withMeta(message.params, { [SUBSCRIPTION_ID]: this.#item.message.id }) };
  }

  /** The target ends its part in good order. */
  #over(part: Part): void {
    if (part.accepted === null) return this.#ended(part, broken('the target did not acknowledge the subscription'));
    part.ended = true;
    if (this.#parts.every(({ ended }) => ended)) this.#finish();
  }

  #ended(part: Part, failure: TargetFailure): void {
    if (this.#done || part.ended) return;
    const several = this.#item.members.plan.targets.length > 1;
    if (several && part.accepted === null && isMethodNotFound(failure)) return this.#hasNone(part, failure);
    part.ended = true;
    part.failure = failure;
    if (!part.silent) part.calling?.cancel();
    if (!this.#item.members.plan.failOpen) return this.#fail(failure);
    if (this.#parts.every(({ ended }) => ended)) return this.#finish();
    this.#establish();
  }

  /** Beside others, a server that knows no subscriptions is one that never tells anything. */
  #hasNone(part: Part, failure: TargetFailure): void {
    if (failure.kind === 'http') failure.response?.body.cancel();
    part.accepted = {};
    part.ended = true;
    this.#establish();
    if (this.#parts.every(({ ended }) => ended)) this.#finish();
  }

  /** Nobody is left. */
  #finish(): void {
    if (this.#established) {
      const result = resultFor('modern', 'subscriptions/listen', {
        _meta: { [SUBSCRIPTION_ID]: this.#item.message.id },
      });
      return this.#tell({ kind: 'result', id: this.#item.message.id, result });
    }
    const first = this.#parts.find(({ failure }) => failure !== null);
    this.#fail(first?.failure ?? broken('no target took the subscription'));
  }

  #fail(failure: TargetFailure): void {
    if (failure.kind === 'rpc') return this.#tell({ kind: 'error', id: this.#item.message.id, error: failure.error });
    this.cancel();
    this.#item.sink.onEnd(failure);
  }

  #tell(message: RpcMessage): void {
    this.cancel();
    this.#item.sink.onMessage(message);
    this.#item.sink.onEnd(null);
  }
}

/** A subscription to an address is one to what lies below it too. */
function covers(subscribed: string, uri: string): boolean {
  return uri === subscribed || uri.startsWith(subscribed.endsWith('/') ? subscribed : `${subscribed}/`);
}

function resourceList(filter: JsonObject): readonly string[] {
  const uris = filter['resourceSubscriptions'];
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : [];
}
