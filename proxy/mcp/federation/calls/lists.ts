import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { rpcCodes } from '../../message/codes.ts';
import type { RequestId, RpcRequest } from '../../message/message.ts';
import type { Era } from '../../message/versions.ts';
import type { TargetFailure } from '../../targets/contract.ts';
import { resultFor } from '../../message/result-fields.ts';
import type { Cursors } from '../merge/cursor.ts';
import { distinct, mergedItems } from '../merge/lists.ts';
import type { ListRoute } from '../route.ts';
import type { KnownNames } from '../known-names.ts';
import { denied } from '../members.ts';
import { isMethodNotFound, type FanOut, type Outcome } from './fan-out.ts';
import { gather, type Answer } from './gather.ts';

/** A target that has still more pages then is taken for one that never ends. */
const maxPages = 64;

/**
 * The list of all targets: a page of each with every request, until each is at its end. Where names must be compared
 * between targets, all pages at once. Null when the client has been told why there is none.
 */
export async function mergedList(fan: FanOut, list: ListRoute, headers: Headers): Promise<JsonObject | null> {
  const { message, call, members } = fan;
  const { plan } = members;
  const whole = distinct(plan, list);
  // No cursor is ever given out for lists that come whole.
  const starts = whole && message.params?.['cursor'] !== undefined ? null : startsOf(fan, message);
  if (starts === null) {
    fan.fail(invalidCursor(call.era));
    return null;
  }
  const parts = [...starts].map(([target, cursor]) => {
    if (whole) return wholeList(fan, { target, list, method: message.method, headers: headers.clone() }, 'list');
    return page(fan, { target, list, method: message.method, headers: headers.clone() }, cursor);
  });
  const answers = await gather(fan, parts);
  if (answers === null) return null;
  const items = mergedItems(plan, call.exchange, list, answers);
  const next = nextCursors(answers);
  // What else the only target has said is about the whole list.
  const { nextCursor: _cursor, ...said } = (plan.targets.length === 1 ? answers[0]?.result : undefined) ?? {};
  const result = { ...said, [list.member]: items };
  const paged = next.size === 0 ? result : { ...result, nextCursor: plan.cursors.encode(message.method, next) };
  return resultFor(call.era, message.method, paged);
}

export interface ListPart {
  readonly target: number;
  readonly list: ListRoute;
  readonly method: string;
  readonly headers: Headers;
}

/** All pages of one target's list as one result. */
export async function wholeList(fan: FanOut, part: ListPart, use: 'list' | 'look-up' | 'anew'): Promise<Outcome> {
  const { target, list, method } = part;
  const { lists } = fan.members;
  const known = use === 'anew' ? null : lists.read(target, method, fan.call.exchange, use);
  if (known !== null) return { kind: 'result', target, result: known };
  const generation = lists.generation(target, method);
  const items: JsonValue[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < maxPages; pages++) {
    const outcome: Outcome = await ask(fan, part, { cursor, id: fan.nextId() });
    if (outcome.kind === 'failure') return outcome;
    const own = outcome.result[list.member];
    if (Array.isArray(own)) for (const item of own) items.push(item);
    const next: JsonValue | undefined = outcome.result['nextCursor'];
    if (typeof next !== 'string') {
      const result = { [list.member]: items };
      lists.store(target, method, fan.call.exchange, { result, generation });
      return { kind: 'result', target, result };
    }
    cursor = next;
  }
  return failure(target, `the list ${method} of the target has more than ${maxPages} pages`);
}

/** One page, from where the client is; a list of one page is kept. */
async function page(fan: FanOut, part: ListPart, cursor: string | null): Promise<Outcome> {
  const { target, method } = part;
  const { lists } = fan.members;
  const known = cursor === null ? lists.read(target, method, fan.call.exchange, 'list') : null;
  if (known !== null) return { kind: 'result', target, result: known };
  const generation = lists.generation(target, method);
  const outcome = await ask(fan, part, { cursor, id: fan.message.id });
  if (cursor !== null || outcome.kind === 'failure' || !lists.hears(target, method)) return outcome;
  if (typeof outcome.result['nextCursor'] !== 'string')
    lists.store(target, method, fan.call.exchange, { result: outcome.result, generation });
  return outcome;
}

async function ask(
  fan: FanOut,
  part: ListPart,
  at: { readonly id: RequestId; readonly cursor: string | null },
): Promise<Outcome> {
  const { target, list, method, headers } = part;
  const { message, members } = fan;
  const own = message.method === method;
  const params = withCursor(own ? message.params : metaOnly(message.params), at.cursor);
  const same = own && at.id === message.id && params === message.params;
  const request: RpcRequest = same ? message : { kind: 'request', id: at.id, method, params };
  const outcome = await fan.ask(target, request, headers.clone());
  if (outcome.kind === 'failure') {
    // A server without such things has an empty list of them.
    const none = members.plan.targets.length > 1 && isMethodNotFound(outcome.failure);
    return none ? { kind: 'result', target, result: { [list.member]: [] } } : outcome;
  }
  if (Array.isArray(outcome.result[list.member])) {
    learn(members.plan.known, { target, list, result: outcome.result });
    return outcome;
  }
  return failure(target, `upstream returned a result incompatible with \`${method}\``);
}

/** To older clients as servers would say it. */
function invalidCursor(era: Era): TargetFailure {
  const error = { code: rpcCodes.invalidParams, message: 'invalid cursor' };
  return denied(error, 'MCP', era === 'modern' ? 400 : 200);
}

/** What a target lists, it has. */
export function learn(
  known: KnownNames,
  { target, list, result }: { readonly target: number; readonly list: ListRoute; readonly result: JsonObject },
): void {
  const items = result[list.member];
  if (!Array.isArray(items) || list.item === 'task') return;
  for (const item of items) {
    const name: JsonValue | undefined = isJsonObject(item) ? item[list.key] : undefined;
    if (typeof name === 'string') known.add(target, list.item, name);
  }
}

function startsOf(fan: FanOut, message: RpcRequest): ReadonlyMap<number, string | null> | null {
  const { plan } = fan.members;
  const cursor = message.params?.['cursor'];
  if (cursor === undefined || cursor === null) return new Map(plan.targets.map((_, at) => [at, null]));
  return typeof cursor === 'string' ? plan.cursors.decode(message.method, cursor) : null;
}

function nextCursors(answers: readonly Answer[]): Cursors {
  const next = new Map<number, string>();
  for (const { target, result } of answers) {
    const cursor = result['nextCursor'];
    if (typeof cursor === 'string') next.set(target, cursor);
  }
  return next;
}

function withCursor(params: JsonObject | undefined, cursor: string | null): JsonObject | undefined {
  if (cursor !== null) return { ...params, cursor };
  if (params === undefined || !('cursor' in params)) return params;
  const { cursor: _cursor, ...rest } = params;
  return rest;
}

/** What a request of the gateway's own takes over from the client's: the envelope of its protocol version. */
function metaOnly(params: JsonObject | undefined): JsonObject | undefined {
  const meta = params?.['_meta'];
  if (typeof meta !== 'object' || meta === null || Array.isArray(meta)) return undefined;
  // `Array.isArray` does not narrow lists that cannot be written to.
  const { progressToken: _token, ...rest } = meta as JsonObject;
  return Object.keys(rest).length === 0 ? undefined : { _meta: rest };
}

function failure(target: number, message: string): Outcome {
  return { kind: 'failure', target, failure: { kind: 'rpc', error: { code: rpcCodes.internal, message } } };
}
