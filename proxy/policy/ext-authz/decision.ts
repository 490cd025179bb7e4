import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { isAuthority, isToken } from '../../exchange/grammar.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { insertParameter, removeParameter } from '../../credentials/query.ts';
import type { Outcome } from '../contract.ts';
import { next } from '../contract.ts';
import { applyHeaderChanges, type HeaderChange, mayChange } from '../header-changes.ts';

/** What a service has decided; immutable, so that a cached one can be carried out again and again. */
export type Decision = Allowed | Denied;

export interface Allowed {
  readonly kind: 'allowed';
  readonly changes: RequestChanges;
  /** For the client, whatever response there will be. */
  readonly responseHeaders: readonly HeaderChange[];
  readonly metadata: JsonObject | null;
}

export interface Denied {
  readonly kind: 'denied';
  readonly refusal: Refusal;
  readonly cacheable: boolean;
  readonly metadata: JsonObject | null;
}

/** What an allowed request is changed by. */
export interface RequestChanges {
  /** Lower-case names. */
  readonly removeHeaders: readonly string[];
  readonly headers: readonly HeaderChange[];
  readonly removeParameters: readonly string[];
  readonly setParameters: readonly (readonly [name: string, value: string])[];
}

export const MESSAGE = 'external authorization failed';

/** A denial without words of the service. */
export function plainDenial(status = 403, metadata: JsonObject | null = null): Denied {
  return { kind: 'denied', refusal: refuse(status, 'ExtAuth', MESSAGE), cacheable: true, metadata };
}

export function uncached(denied: Denied): Denied {
  return { ...denied, cacheable: false };
}

/** A denial that the service has worded itself. */
export function wordedDenial(
  answer: { readonly status: number; readonly headers: Headers; readonly body: Uint8Array },
  { cacheable, metadata }: { readonly cacheable: boolean; readonly metadata: JsonObject | null },
): Denied {
  const { status, headers } = answer;
  // RFC 9110 sections 15.3.5, 15.3.6 and 15.4.5: these have no content.
  const body = status === 204 || status === 205 || status === 304 ? new Uint8Array(0) : answer.body;
  return {
    kind: 'denied',
    refusal: { status, reason: 'ExtAuth', message: MESSAGE, headers, body },
    cacheable,
    metadata,
  };
}

export function redirectTo(location: string, metadata: JsonObject | null): Denied {
  const headers = Headers.from([['location', location]]);
  const refusal: Refusal = { status: 302, reason: 'ExtAuth', message: MESSAGE, headers, bodyless: true };
  return { kind: 'denied', refusal, cacheable: true, metadata };
}

/** Carries a decision out. */
export function carryOut(decision: Decision, exchange: Exchange): Outcome {
  const { metadata } = decision;
  if (metadata !== null) exchange.attributes.extauthz = { ...exchange.attributes.extauthz, ...metadata };
  if (decision.kind === 'denied') return { kind: 'fail', refusal: decision.refusal };
  changeRequest(exchange.request, decision.changes);
  for (const change of decision.responseHeaders) queue(exchange, change);
  return next;
}

function changeRequest(request: HttpRequest, changes: RequestChanges): void {
  for (const name of changes.removeHeaders) if (mayChange(name)) request.headers.remove(name);
  applyHeaderChanges(
    request.headers,
    changes.headers.filter((change) => !isTarget(change.name)),
  );
  for (const { name, value } of changes.headers) if (isTarget(name)) changeTarget(request, name, value);
  for (const name of changes.removeParameters) request.target = removeParameter(request.target, name);
  for (const [name, value] of changes.setParameters) request.target = insertParameter(request.target, name, value);
}

function isTarget(name: string): boolean {
  return name === 'host' || name.startsWith(':');
}

// RFC 3986 section 3.3: what a request target may hold, without what would end it.
const TARGET = /^\/[\u0021\u0022\u0024-\u007e]*$/;

/** What is not one of the request line's parts, or cannot stand there, changes nothing. */
function changeTarget(request: HttpRequest, name: string, value: string): void {
  if (name === 'host' || name === ':authority') {
    if (value !== '' && isAuthority(value)) request.authority = value;
  } else if (name === ':path' && TARGET.test(value)) {
    request.target = value;
  } else if (name === ':method' && isToken(value) && value !== 'CONNECT' && request.method !== 'CONNECT') {
    request.method = value;
  }
}

function queue(exchange: Exchange, { name, value, action }: HeaderChange): void {
  if (isTarget(name)) return;
  const { queued } = exchange;
  if (action === 'append') queued.addBeside(name, value);
  else if (action === 'addIfAbsent') queued.addDefault(name, value);
  else if (action === 'overwrite') queued.add(name, value);
  else queued.addIfPresent(name, value);
}
