import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { CallPlan, ParameterPlan } from './plan.ts';
import { expanded } from './values.ts';
import { writeBody } from './write-body.ts';
import { writePath } from './write-path.ts';
import { writeQuery } from './write-query.ts';

export interface Written {
  readonly kind: 'written';
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly body: Uint8Array | null;
}

/** What is wrong with the arguments, in words from which a model can learn. */
export interface Misfit {
  readonly kind: 'misfit';
  readonly problem: string;
}

/** Headers of the client that say something about its message, or its conversation, and nothing about this request. */
const LEFT_BEHIND = [
  'accept-encoding',
  'content-encoding',
  'content-length',
  'content-type',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
];

/** Makes the request of a call; `headers` are changed. */
export function writeRequest(plan: CallPlan, given: JsonObject, headers: Headers): Written | Misfit {
  const groups = { path: groupOf(given, 'path'), query: groupOf(given, 'query'), header: groupOf(given, 'header') };
  for (const [name, group] of Object.entries(groups)) if (group === null) return misfit(`\`${name}\` is no object`);
  const path = writePath(plan.path, groups.path ?? {});
  if (typeof path !== 'string') return path;
  const query = writeQuery(plan.query, groups.query ?? {});
  if (typeof query !== 'string') return query;
  const body = plan.body === null ? null : writeBody(plan.body, own(given, 'body'));
  if (body !== null && 'kind' in body) return body;
  leaveBehind(headers);
  headers.set('accept', plan.accept);
  if (body !== null) headers.set('content-type', body.contentType);
  const refused = writeHeaders(plan.headers, groups.header ?? {}, headers);
  if (refused !== null) return refused;
  return { kind: 'written', method: plan.method, target: path + query, body: body?.bytes ?? null };
}

function leaveBehind(headers: Headers): void {
  for (const name of LEFT_BEHIND) headers.remove(name);
  for (const name of headers.names.filter((each) => each.startsWith('mcp-param-'))) headers.remove(name);
}

/** Undefined arguments are none; null is what cannot be read. */
function groupOf(given: JsonObject, name: string): JsonObject | null {
  const group = own(given, name);
  if (group === undefined || group === null) return {};
  return isJsonObject(group) ? group : null;
}

function own(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function misfit(problem: string): Misfit {
  return { kind: 'misfit', problem };
}

function writeHeaders(plans: readonly ParameterPlan[], given: JsonObject, headers: Headers): Misfit | null {
  for (const plan of plans) {
    const { name, required } = plan;
    if (headers.has(name.toLowerCase())) continue;
    const value = expanded(plan, own(given, name), (text) => text);
    if (value === null && required) return misfit(`the header \`${name}\` is missing`);
    if (value === null) continue;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return misfit(`the header \`${name}\` has characters that headers cannot have`);
    headers.append(name, value.trim());
  }
  return null;
}
