import type { JsonObject } from '../../../../src/shared/json.ts';
import { isJsonObject } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { McpItem } from '../../guard/contract.ts';
import type { RpcRequest } from '../../message/message.ts';
import type { ClientCall } from '../../session/contract.ts';
import type { CallSink, Calling, TargetFailure } from '../../targets/contract.ts';
import { denied, fault, forwarded, settled, unfit, unknownItem, type Members } from '../members.ts';
import type { Owned } from '../naming.ts';
import { relatedIn } from '../rename/meta.ts';
import { compatible, resultOut } from '../rename/results.ts';
import type { ItemRoute } from '../route.ts';
import { FanOut } from './fan-out.ts';
import { locate } from './locate.ts';
import { OneCall } from './one.ts';
import { Relayed } from './relayed.ts';

/** A request of a client about one thing. */
export interface ItemCall {
  readonly members: Members;
  readonly message: RpcRequest;
  readonly call: ClientCall;
  readonly sink: CallSink;
  readonly over: (() => void) | null;
}

/** What a request is about, as the client calls it. */
export interface Subject {
  readonly kind: McpItem['kind'];
  readonly name: string;
  /** The parameters with the target's own name in place of the client's. */
  params(own: string): JsonObject;
}

export function callItem(item: ItemCall, route: ItemRoute): Calling {
  const params = item.message.params ?? {};
  const name = params[route.key];
  if (typeof name !== 'string') return refuse(item, unfit(`params.${route.key} is missing`));
  const subject: Subject = { kind: route.item, name, params: (own) => withKey(params, route.key, own) };
  return callSubject(item, subject, route.guarded);
}

/** What `completion/complete` may be about, by the type of its `ref`. What a reference of another kind is about, its target alone would know. */
export const references: ReadonlyMap<string, readonly [McpItem['kind'], 'name' | 'uri']> = new Map([
  ['ref/prompt', ['prompt', 'name']],
  ['ref/resource', ['resource', 'uri']],
]);

/** `completion/complete` is for whoever has the prompt or the template. */
export function callReference(item: ItemCall): Calling {
  const params = item.message.params ?? {};
  const ref = params['ref'];
  if (!isJsonObject(ref)) return refuse(item, unfit('params.ref is missing'));
  const known = typeof ref['type'] === 'string' ? references.get(ref['type']) : undefined;
  if (known === undefined) return refuse(item, unfit('params.ref.type is none'));
  const [kind, key] = known;
  const name = ref[key];
  if (typeof name !== 'string') return refuse(item, unfit(`params.ref.${key} is missing`));
  const subject: Subject = { kind, name, params: (own) => withKey(params, 'ref', withKey(ref, key, own)) };
  return callSubject(item, subject, false);
}

function callSubject(item: ItemCall, subject: Subject, guarded: boolean): Calling {
  const { naming } = item.members.plan;
  const byName = subject.kind === 'tool' || subject.kind === 'prompt';
  if (byName && naming.addresses && !naming.names) return callLocated(item, subject, guarded);
  const owned = ownerOf(item, subject);
  if (owned === null) return refuse(item, unknownItem(item.members, subject.kind, subject.name));
  return callOwned(item, subject, { ...owned, guarded });
}

function ownerOf(item: ItemCall, { kind, name }: Subject): Owned | null {
  const { naming } = item.members.plan;
  if (kind === 'resource') return naming.uriIn(name);
  return kind === 'task' ? naming.taskIn(name) : naming.nameIn(name);
}

/** The target has to be found first. */
function callLocated(item: ItemCall, subject: Subject, guarded: boolean): Calling {
  const relayed = new Relayed();
  const fan = new FanOut(item);
  relayed.become(fan);
  const kind = subject.kind === 'prompt' ? 'prompt' : 'tool';
  locate(fan, kind, subject.name, forwarded(item.call))
    .then((target) => {
      if (target === null || relayed.cancelled) return null;
      fan.release();
      return relayed.become(callOwned(item, subject, { target, name: subject.name, guarded }));
    })
    .catch((error: unknown) => fan.fail(fault(error)));
  return relayed;
}

function callOwned(item: ItemCall, subject: Subject, owned: Owned & { readonly guarded: boolean }): Calling {
  const { members, message, call } = item;
  const { naming, guards } = members.plan;
  const { target } = owned;
  const { mcp } = call.exchange.attributes;
  const { known } = members.plan;
  if (mcp !== null) {
    mcp.item = { kind: subject.kind, name: owned.name, target: members.plan.targets[target]?.name ?? '' };
    mcp.itemKnown = known.has(target, subject.kind, owned.name);
  }
  const { method } = message;
  const answered = (result: JsonObject): void => {
    // Many servers say so of tools that they do not have.
    if (result['isError'] === true || subject.kind === 'task') return;
    known.add(target, subject.kind, owned.name);
    if (mcp !== null) mcp.itemKnown = known.has(target, subject.kind, owned.name);
  };
  const finish = naming.addresses
    ? (result: JsonObject): JsonObject | null =>
        compatible(method, result) ? resultOut(naming, target, method, result) : null
    : null;
  const one = new OneCall({ ...item, target, answered, finish });
  const request = ownRequest(item, subject, owned);
  const headers = forwarded(call);
  if (!owned.guarded || guards?.looksAt(method, 'request') !== true) {
    permit(one, { item, subject, owned, request, headers });
    return one;
  }
  const targets = [members.plan.targets[target]?.name ?? ''];
  guards
    .request({ exchange: call.exchange, method, targets, headers }, request.params ?? {})
    .then((outcome) => {
      if (outcome.kind === 'reject') return one.refuse(denied(outcome.error, 'Guardrail'));
      const changed = outcome.body === null ? request : { ...request, params: outcome.body };
      return permit(one, { item, subject, owned, request: changed, headers });
    })
    .catch((error: unknown) => one.refuse(fault(error)));
  return one;
}

interface Permitted {
  readonly item: ItemCall;
  readonly subject: Subject;
  readonly owned: Owned;
  readonly request: RpcRequest;
  readonly headers: Headers;
}

/** Rules see what processors have found out; they decide about the item that the client has named. */
function permit(one: OneCall, { item, subject, owned, request, headers }: Permitted): void {
  const { plan } = item.members;
  const target = plan.targets[owned.target]?.name ?? '';
  const { allows } = plan.rules;
  if (allows === null || allows(item.call.exchange, { kind: subject.kind, name: owned.name, target }))
    return one.begin(request, headers);
  one.refuse(unknownItem(item.members, subject.kind, subject.name));
}

/** The client's message itself where nothing in it has another name. */
function ownRequest(item: ItemCall, subject: Subject, owned: Owned): RpcRequest {
  const { message, members } = item;
  if (!members.plan.naming.addresses) return message;
  const params = relatedIn(members.plan.naming, owned.target, subject.params(owned.name));
  return { ...message, params };
}

/** Nobody is asked. */
export function refuse({ sink, over }: ItemCall, failure: TargetFailure): Calling {
  over?.();
  sink.onEnd(failure);
  return settled;
}

function withKey(value: JsonObject, key: string, member: JsonObject[string]): JsonObject {
  return { ...value, [key]: member };
}
