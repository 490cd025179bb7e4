import type { ExtAuthz, ExtAuthzHttp } from '../../../src/config/ir/policy/ext-authz.ts';
import { insertHeader } from '../../credentials/header.ts';
import { isAuthority } from '../../exchange/grammar.ts';
import { Headers } from '../../exchange/headers.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import type { Expression, Expressions } from '../../expression/contract.ts';
import type { ServiceRequest } from '../../services/contract.ts';
import { mayChange } from '../header-changes.ts';
import type { Question } from './question.ts';

/** Makes the request that asks; null when one of its expressions fails, which refuses the client's. */
export type Check = (question: Question) => ServiceRequest | null;

const DEFAULT_HEADERS: readonly string[] = ['authorization'];
const PARTIAL_BODY = 'x-envoy-auth-partial-body';
// RFC 9112 section 3.2.1: the origin form of a request target.
const TARGET = /^\/[\u0021\u0022\u0024-\u007e]*$/;

interface Settings {
  readonly headers: readonly string[];
  /** The check's authority is the client's. */
  readonly authority: boolean;
  readonly path: Expression | null;
  readonly body: Expression | null;
  readonly added: readonly (readonly [name: string, value: Expression])[];
}

/** Throws a `GwError` for an expression that is none. */
export function compileCheck(spec: ExtAuthz, protocol: ExtAuthzHttp, expressions: Expressions): Check {
  const settings = compileSettings(spec, protocol, expressions);
  return (question) => {
    const target = targetOf(question, settings.path);
    if (target === null) return null;
    const computed = settings.body?.body(question.context);
    if (computed === null) return null;
    const { request, body } = question;
    const headers = request === null ? new Headers() : copied(request, settings.headers);
    const copiedAuthority = request !== null && settings.authority ? request.authority : null;
    const authority = addHeaders(headers, settings, question) ?? copiedAuthority;
    if (body !== null) headers.set(PARTIAL_BODY, String(!body.whole));
    return { method: methodOf(request), target, authority, headers, body: computed ?? body?.bytes ?? null };
  };
}

function compileSettings(spec: ExtAuthz, protocol: ExtAuthzHttp, expressions: Expressions): Settings {
  const where = 'extAuthz protocol.http';
  const { path, body, addRequestHeaders } = protocol;
  const names = spec.includeRequestHeaders;
  return {
    headers: names.length === 0 ? DEFAULT_HEADERS : names.filter((name) => !name.startsWith(':') && mayChange(name)),
    authority: names.includes(':authority') || names.includes('host'),
    path: path === undefined ? null : expressions.compile(path, `${where}.path`),
    body: body === undefined ? null : expressions.compile(body, `${where}.body`),
    added: Object.entries(addRequestHeaders).map(
      ([name, source]) =>
        [name.toLowerCase(), expressions.compile(source, `${where}.addRequestHeaders.${name}`)] as const,
    ),
  };
}

/** A connection has no path of its own, and the target of CONNECT is no path. */
function targetOf({ context, request }: Question, path: Expression | null): string | null {
  if (path === null) return request === null || request.method === 'CONNECT' ? '/' : request.target;
  const target = path.text(context);
  return target !== null && TARGET.test(target) ? target : null;
}

/** CONNECT would ask the service for a tunnel. */
function methodOf(request: HttpRequest | null): string {
  return request === null || request.method === 'CONNECT' ? 'GET' : request.method;
}

function copied(request: HttpRequest, names: readonly string[]): Headers {
  const headers = new Headers();
  for (const name of names) {
    const value = request.headers.get(name);
    if (value !== undefined) headers.append(name, value);
  }
  return headers;
}

/** Adds what was configured; a value that fails takes the header away. Gives the authority when it is among them. */
function addHeaders(headers: Headers, { added }: Settings, { context }: Question): string | null {
  let authority: string | null = null;
  for (const [name, expression] of added) {
    const value = expression.headerText(context);
    if (name === 'host') authority = value !== null && value !== '' && isAuthority(value) ? value : null;
    else if (value === null || !insertHeader(headers, name, value)) headers.remove(name);
  }
  return authority;
}
