import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { rawNumber } from '../../../../src/shared/raw-number.ts';
import type { Headers } from '../../../exchange/headers.ts';
import type { BodyPlan, CallPlan, ParameterPlan } from './plan.ts';

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
  headers.set('accept', 'application/json');
  if (body !== null && plan.body !== null) headers.set('content-type', plan.body.contentType);
  const refused = writeHeaders(plan.headers, groups.header ?? {}, headers);
  if (refused !== null) return refused;
  return { kind: 'written', method: plan.method, target: path + query, body };
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

function writePath(template: readonly string[], given: JsonObject): string | Misfit {
  let path = '';
  for (const [index, part] of template.entries()) {
    if (index % 2 === 0) path += part;
    else {
      const value = listOrText(own(given, part), ',');
      if (value === null || value === '') return misfit(`the path parameter \`${part}\` is missing`);
      path += encode(value);
    }
  }
  // Servers take dots, escaped or not, for a way up: a value does not choose another operation.
  if (path.split('/').some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    return misfit('a path parameter is not made of dots alone');
  return path;
}

function writeQuery(plans: readonly ParameterPlan[], given: JsonObject): string | Misfit {
  const pairs: string[] = [];
  for (const plan of plans) {
    const value = own(given, plan.name);
    if (value === undefined && plan.required) return misfit(`the query parameter \`${plan.name}\` is missing`);
    if (value !== undefined) pairs.push(...queryPairs(plan, value));
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function queryPairs({ name, explode, separator, deep }: ParameterPlan, value: JsonValue): readonly string[] {
  if (value === null) return [encode(name)];
  if (isJsonObject(value) && rawNumber(value) === undefined) {
    if (!deep && !explode) return [];
    const key = (member: string): string => (deep ? `${name}[${member}]` : member);
    return Object.entries(value).flatMap(([member, each]) => pair(key(member), textOf(each)));
  }
  if (Array.isArray(value) && explode) return value.flatMap((each) => pair(name, textOf(each)));
  return pair(name, listOrText(value, separator));
}

function pair(name: string, value: string | null): readonly string[] {
  return value === null ? [] : [`${encode(name)}=${encode(value)}`];
}

function writeHeaders(plans: readonly ParameterPlan[], given: JsonObject, headers: Headers): Misfit | null {
  for (const { name, required } of plans) {
    if (headers.has(name.toLowerCase())) continue;
    const value = listOrText(own(given, name), ',');
    if (value === null && required) return misfit(`the header \`${name}\` is missing`);
    if (value === null) continue;
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return misfit(`the header \`${name}\` has characters that headers cannot have`);
    headers.append(name, value.trim());
  }
  return null;
}

function writeBody({ form, required }: BodyPlan, body: JsonValue | undefined): Uint8Array | null | Misfit {
  if (body === undefined) return required ? misfit('`body` is missing') : null;
  if (form === 'json') return Buffer.from(JSON.stringify(body));
  if (form === 'fields') {
    if (!isJsonObject(body)) return misfit('`body` is no object');
    const fields = Object.entries(body).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).flatMap((each) => pair(name, textOf(each) ?? JSON.stringify(each))),
    );
    return Buffer.from(fields.join('&'));
  }
  if (typeof body !== 'string') return misfit('`body` is no text');
  if (form === 'text') return Buffer.from(body);
  return /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/.test(body) ? Buffer.from(body, 'base64') : misfit('`body` is not in base64');
}

function listOrText(value: JsonValue | undefined, separator: string): string | null {
  if (!Array.isArray(value)) return textOf(value);
  return value.map((each) => textOf(each) ?? '').join(separator);
}

/** Null for what has no text: nothing, and what has parts. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (rawNumber(value) ?? null);
}

/** All but the unreserved characters of RFC 3986 section 2.3. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
