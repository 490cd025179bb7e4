import type { Cors } from '../../../src/config/ir/index.ts';
import { emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { originMatch } from './origins.ts';

const ALLOW_ORIGIN = 'access-control-allow-origin';
const ALLOW_CREDENTIALS = 'access-control-allow-credentials';
const EXPOSE_HEADERS = 'access-control-expose-headers';

/** Answers preflights, and queues the headers that let a page of an allowed origin read the answer. */
export function cors(spec: Cors, { source }: PolicyContext): RequestStep {
  const allows = originMatch(spec.allowOrigins);
  const preflight = preflightHeaders(spec);
  const exposed = exposedNames(spec);
  return (exchange) => {
    const { method, headers } = exchange.request;
    const origin = headers.get('origin');
    // Every answer depends on the origin, if only by the lack of the headers: caches have to know.
    exchange.queued.addItem('vary', 'Origin');
    if (origin === undefined || origin === '') {
      exchange.trace?.skipped('cors', 'the request has no Origin');
      return next;
    }
    if (!allows(origin)) return refused(exchange, origin, source);
    if (method === 'OPTIONS') {
      exchange.trace?.applied('cors', `preflight from ${origin} allowed (from ${source})`, 'success');
      return answer(preflight(origin, headers));
    }
    queue(exchange, ALLOW_ORIGIN, origin);
    queue(exchange, ALLOW_CREDENTIALS, spec.allowCredentials ? 'true' : '');
    queue(exchange, EXPOSE_HEADERS, exposed);
    exchange.trace?.applied('cors', `headers for ${origin} added (from ${source})`);
    return next;
  };
}

/** A refused preflight goes no further, so that no backend allows what the gateway does not. */
function refused(exchange: Exchange, origin: string, source: string): Outcome {
  const { method, headers } = exchange.request;
  if (method === 'OPTIONS' && (headers.get('access-control-request-method') ?? '') !== '') {
    exchange.trace?.applied('cors', `preflight from ${origin} refused (from ${source})`, 'warn');
    return answer(new Headers());
  }
  for (const name of [ALLOW_ORIGIN, ALLOW_CREDENTIALS, EXPOSE_HEADERS]) exchange.queued.drop(name);
  exchange.trace?.skipped('cors', `the origin ${origin} is not allowed (from ${source})`, 'warn');
  return next;
}

/** What an earlier phase has queued is this policy's to replace, or, with nothing to say, to take back. */
function queue(exchange: Exchange, name: string, value: string): void {
  if (value === '') exchange.queued.drop(name);
  else exchange.queued.set(name, value);
}

function answer(headers: Headers): Outcome {
  return { kind: 'respond', response: { status: 200, headers, body: emptyBody }, policy: 'cors' };
}

/** Everything that does not depend on the request is written once. */
function preflightHeaders(spec: Cors): (origin: string, request: Headers) => Headers {
  const settled = Headers.from([
    ...(spec.allowCredentials ? [[ALLOW_CREDENTIALS, 'true'] as const] : []),
    ...(spec.exposeHeaders.length === 0 ? [] : [[EXPOSE_HEADERS, exposedNames(spec)] as const]),
    ...(spec.maxAgeMs === undefined
      ? []
      : [['access-control-max-age', String(Math.floor(spec.maxAgeMs / 1000))] as const]),
    ['vary', 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'],
  ]);
  const methods = offered(spec.allowMethods, spec.allowCredentials);
  const names = offered(spec.allowHeaders, spec.allowCredentials);
  return (origin, request) => {
    const headers = settled.clone();
    headers.append(ALLOW_ORIGIN, origin);
    const allowMethods = methods(request.get('access-control-request-method') ?? '');
    if (allowMethods !== '') headers.append('access-control-allow-methods', allowMethods);
    const allowHeaders = names(listed(request.getAll('access-control-request-headers')));
    if (allowHeaders !== '') headers.append('access-control-allow-headers', allowHeaders);
    return headers;
  };
}

function exposedNames({ exposeHeaders }: Cors): string {
  return exposeHeaders.includes('*') ? '*' : exposeHeaders.join(',');
}

/** A wildcard offers what is asked for; browsers take `*` for itself only without credentials. Empty: no header. */
function offered(list: readonly string[], withCredentials: boolean): (asked: string) => string {
  if (!list.includes('*')) {
    const text = list.join(',');
    return () => text;
  }
  const unasked = withCredentials ? '' : '*';
  return (asked) => (asked === '' ? unasked : asked);
}

function listed(values: readonly string[]): string {
  return values
    .join(',')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .join(', ');
}
