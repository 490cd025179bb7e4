import type { JsonObject } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { rpcCodes } from '../../message/codes.ts';
import { resultFor } from '../../message/result-fields.ts';
import type { Calling, TargetFailure } from '../../targets/contract.ts';
import { denied, fault, forwarded, type Members } from '../members.ts';
import { isDiscoverResult, isInitializeResult, mergedDiscover, mergedInitialize } from '../merge/initialize.ts';
import { permittedList } from '../merge/lists.ts';
import type { Route } from '../route.ts';
import { FanOut, isMethodNotFound, type Outcome } from './fan-out.ts';
import { gather } from './gather.ts';
import type { ItemCall } from './item.ts';
import { learn, mergedList } from './lists.ts';
import { OneCall } from './one.ts';

/** What only a session does with the answers to a handshake. */
export interface Handshake extends Members {
  introduced(target: number, result: JsonObject): void;
  began(result: JsonObject): void;
}

/** Requests that are for the gateway as a whole: one answer of all targets. */
export function callEverybody(session: Handshake, item: ItemCall, route: Route | undefined): Calling {
  const { naming } = session.plan;
  // A target that knows it may read names in it that rules say something about.
  const ruled = route === undefined && session.plan.rules.allows !== null;
  const single = naming.targets.length === 1 && !ruled;
  if (single && (route?.kind !== 'list' || !naming.addresses)) return callOnly(session, item, route);
  const fan = new FanOut(item);
  merge(session, fan, route).catch((error: unknown) => fan.fail(fault(error)));
  return fan;
}

/** One target is the whole: its answer stays as it is but for what the client may not see. */
function callOnly(session: Handshake, item: ItemCall, route: Route | undefined): Calling {
  const { message, call } = item;
  const { plan } = session;
  const filter =
    route?.kind === 'list' && plan.rules.allows !== null
      ? (result: JsonObject) => permittedList(plan, call.exchange, route, result)
      : null;
  const answered =
    route?.kind === 'list' ? (result: JsonObject) => learn(plan.known, { target: 0, list: route, result }) : null;
  const one = new OneCall({ ...item, target: 0, answered, finish: finishOnly(session, route), filter });
  const headers = forwarded(call);
  if (plan.guards?.looksAt(message.method, 'request') !== true) {
    one.begin(message, headers);
    return one;
  }
  const targets = [...plan.naming.targets];
  plan.guards.request({ exchange: call.exchange, method: message.method, targets, headers }, null).then(
    (outcome) =>
      outcome.kind === 'reject' ? one.refuse(denied(outcome.error, 'Guardrail')) : one.begin(message, headers),
    (error: unknown) => one.refuse(fault(error)),
  );
  return one;
}

function finishOnly(session: Handshake, route: Route | undefined): ((result: JsonObject) => JsonObject | null) | null {
  if (route?.kind !== 'initialize') return null;
  return (result) => {
    session.introduced(0, result);
    session.began(result);
    return result;
  };
}

async function merge(session: Handshake, fan: FanOut, route: Route | undefined): Promise<void> {
  const looked = fan.members.plan.guards?.looksAt(fan.message.method, 'request') === true;
  // Without processors the targets are asked at once.
  const headers = looked ? await guardedHeaders(fan) : forwarded(fan.call);
  if (headers === null || fan.done) return;
  const result = await merged(session, fan, route, headers);
  if (result === null) return;
  const told = await checked(fan, result);
  if (told === null || fan.done) return;
  if (route?.kind === 'initialize') session.began(told);
  fan.answer(told);
}

/** Processors are asked once, for all targets. Null when they said no. */
async function guardedHeaders(fan: FanOut): Promise<Headers | null> {
  const { guards, naming } = fan.members.plan;
  const { method } = fan.message;
  const headers = forwarded(fan.call);
  const { exchange } = fan.call;
  const outcome = await guards?.request({ exchange, method, targets: naming.targets, headers }, null);
  if (outcome === undefined || outcome.kind === 'pass') return headers;
  fan.fail(denied(outcome.error, 'Guardrail'));
  return null;
}

/** What processors make of the merged result; null when they reject it. */
async function checked(fan: FanOut, result: JsonObject): Promise<JsonObject | null> {
  const { guards, naming } = fan.members.plan;
  const { method } = fan.message;
  if (fan.done || guards?.looksAt(method, 'response') !== true) return result;
  const call = { exchange: fan.call.exchange, method, targets: naming.targets, headers: forwarded(fan.call) };
  const outcome = await guards.response(call, result);
  if (outcome.kind === 'pass') return outcome.body ?? result;
  fan.error(outcome.error, 'Guardrail');
  return null;
}

/** Null when the client has been told why there is no result. */
function merged(
  session: Handshake,
  fan: FanOut,
  route: Route | undefined,
  headers: Headers,
): Promise<JsonObject | null> {
  switch (route?.kind) {
    case 'list':
      return mergedList(fan, route, headers);
    case 'initialize':
      return initialized(session, fan, headers);
    case 'discover':
      return discovered(fan, headers);
    case 'everybody':
      return agreed(fan, headers);
    default:
      fan.fail(denied({ code: rpcCodes.methodNotFound, message: `Method not found: ${fan.message.method}` }, 'MCP'));
      return Promise.resolve(null);
  }
}

async function initialized(session: Handshake, fan: FanOut, headers: Headers): Promise<JsonObject | null> {
  const { plan } = session;
  // Without targets a session can begin; there may be some later.
  if (plan.targets.length === 0) return mergedInitialize(plan, fan.message.params, []);
  const answers = await gather(fan, askAll(fan, headers, isInitializeResult));
  if (answers === null) return null;
  for (const { target, result } of answers) session.introduced(target, result);
  return mergedInitialize(plan, fan.message.params, answers);
}

async function discovered(fan: FanOut, headers: Headers): Promise<JsonObject | null> {
  const answers = await gather(fan, askAll(fan, headers, isDiscoverResult), hasNoDiscover);
  if (answers === null) return null;
  return resultFor(fan.call.era, 'server/discover', mergedDiscover(fan.members.plan, answers));
}

/** Clients then fall back to `initialize`, which they would not if the others answered for it. */
function hasNoDiscover(failure: TargetFailure): boolean {
  if (failure.kind === 'http') return [400, 404, 405].includes(failure.status);
  if (failure.kind !== 'rpc') return false;
  return failure.error.code === rpcCodes.methodNotFound || failure.error.code === rpcCodes.unsupportedVersion;
}

/** `ping` and the like: a target that does not know the method has nothing against it, unless nobody knows it. */
async function agreed(fan: FanOut, headers: Headers): Promise<JsonObject | null> {
  let knows = 0;
  const parts = askAll(fan, headers, isEmpty).map(async (part): Promise<Outcome> => {
    const outcome = await part;
    if (outcome.kind === 'failure' && isMethodNotFound(outcome.failure))
      return { kind: 'result', target: outcome.target, result: {} };
    if (outcome.kind === 'result') knows++;
    return outcome;
  });
  const answers = await gather(fan, parts);
  if (answers === null) return null;
  if (knows > 0) return resultFor(fan.call.era, fan.message.method, {});
  const error = { code: rpcCodes.methodNotFound, message: `Method not found: ${fan.message.method}` };
  fan.fail({ kind: 'rpc', error });
  return null;
}

function askAll(fan: FanOut, headers: Headers, fits: (result: JsonObject) => boolean): Promise<Outcome>[] {
  return fan.members.plan.targets.map(async (_, target): Promise<Outcome> => {
    const outcome = await fan.ask(target, fan.message, headers.clone());
    if (outcome.kind === 'failure' || fits(outcome.result)) return outcome;
    const message = `upstream returned a result incompatible with \`${fan.message.method}\``;
    return { kind: 'failure', target, failure: { kind: 'rpc', error: { code: rpcCodes.internal, message } } };
  });
}

function isEmpty(result: JsonObject): boolean {
  return Object.keys(result).every((key) => key === '_meta' || key === 'resultType');
}
