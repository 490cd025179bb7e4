import type { HeaderModifier } from '../../../src/config/ir/index.ts';
import { isToken } from '../../exchange/grammar.ts';
import type { Headers } from '../../exchange/headers.ts';
import type { PolicyContext, RequestStep, ResponseStep } from '../contract.ts';
import { next } from '../contract.ts';
import { invalidPolicy } from '../invalid-policy.ts';

const VALUE = /^[\t\x20-\x7e]*$/;
const AUTHORITY = /^(?:\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9\-._~%]+)(?::\d{1,5})?$/;

/** Fields that frame messages on one connection: the gateway writes them itself. */
const FRAMING: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What a modifier does to a request. */
export interface RequestChange {
  readonly change: (headers: Headers) => void;
  /** The authority that `host` among the headers decides on; null keeps the request's. */
  readonly authority: string | null;
}

/** Changes request headers: add, set, remove. `host` is the authority. Throws `GW_POLICY_INVALID`. */
export function requestHeaderModifier(spec: HeaderModifier, context: PolicyContext): RequestStep {
  const { change, authority } = requestChange(spec, context.source);
  const details = `${summary(spec)} (from ${context.source})`;
  return (exchange) => {
    change(exchange.request.headers);
    if (authority !== null) exchange.request.authority = authority;
    if (exchange.trace !== null) exchange.trace.applied('request_header_modifier', details);
    return next;
  };
}

/** The change alone, for requests that are no exchange. `source` names who asks for it. Throws `GW_POLICY_INVALID`. */
export function requestChange(spec: HeaderModifier, source: string): RequestChange {
  check(spec, 'requestHeaderModifier', source);
  if (spec.remove.some(isHost)) throw invalidPolicy(source, 'requestHeaderModifier', 'host cannot be removed');
  const authority = settledHost(spec);
  if (authority !== null && !AUTHORITY.test(authority)) {
    throw invalidPolicy(source, 'requestHeaderModifier', `${JSON.stringify(authority)} is not a host`);
  }
  return { change: compileChange(withoutHost(spec)), authority };
}

/** Changes response headers: add, set, remove. Throws `GW_POLICY_INVALID`. */
export function responseHeaderModifier(spec: HeaderModifier, context: PolicyContext): ResponseStep {
  check(spec, 'responseHeaderModifier', context.source);
  const change = compileChange(spec);
  const details = `${summary(spec)} (from ${context.source})`;
  return (exchange, response) => {
    change(response.headers);
    if (exchange.trace !== null) exchange.trace.applied('response_header_modifier', details);
    return null;
  };
}

/** The authority that a modifier gives a request, or null. */
export function settledHost(spec: HeaderModifier | undefined): string | null {
  const fields = [...(spec?.add ?? []), ...(spec?.set ?? [])];
  return fields.findLast(([name]) => isHost(name))?.[1].trim() ?? null;
}

function compileChange(spec: HeaderModifier): (headers: Headers) => void {
  const add = spec.add.map(trimmed);
  const set = spec.set.map(trimmed);
  const remove = spec.remove.map((name) => name.toLowerCase());
  return (headers) => {
    for (const [name, value] of add) headers.append(name, value);
    for (const [name, value] of set) headers.set(name, value);
    for (const name of remove) headers.remove(name);
  };
}

function check(spec: HeaderModifier, policy: string, source: string): void {
  for (const name of [...spec.add, ...spec.set].map(([field]) => field)) {
    if (FRAMING.has(name.toLowerCase())) {
      throw invalidPolicy(source, policy, `${name} belongs to the connection and cannot be set`);
    }
  }
  for (const name of [...spec.add, ...spec.set].map(([field]) => field).concat(spec.remove)) {
    if (!isToken(name)) throw invalidPolicy(source, policy, `${JSON.stringify(name)} is not a header name`);
  }
  for (const [name, value] of [...spec.add, ...spec.set]) {
    if (!VALUE.test(value))
      throw invalidPolicy(source, policy, `the value of ${name} has characters that a header cannot hold`);
  }
}

function withoutHost(spec: HeaderModifier): HeaderModifier {
  return {
    add: spec.add.filter(([name]) => !isHost(name)),
    set: spec.set.filter(([name]) => !isHost(name)),
    remove: spec.remove,
  };
}

/** Names only: values may be credentials. */
function summary(spec: HeaderModifier): string {
  const parts = [
    ['add', spec.add.map(([name]) => name)],
    ['set', spec.set.map(([name]) => name)],
    ['remove', spec.remove],
  ] as const;
  const told = parts.filter(([, names]) => names.length > 0).map(([verb, names]) => `${verb} ${names.join(', ')}`);
  return told.length === 0 ? 'nothing to change' : told.join('; ');
}

function trimmed([name, value]: readonly [string, string]): readonly [string, string] {
  return [name, value.trim()];
}

function isHost(name: string): boolean {
  return name.toLowerCase() === 'host';
}
