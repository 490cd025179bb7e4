import type { Headers } from '../exchange/headers.ts';
import { isAuthority, isToken } from '../exchange/grammar.ts';
import { checkOctets, type FieldParser } from './fields.ts';
import { type Framing, requestFraming } from './framing.ts';
import { Http1Error } from './limits.ts';

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly authority: string;
  readonly version: 'HTTP/1.0' | 'HTTP/1.1';
  /** Without `host`. */
  readonly headers: Headers;
  readonly framing: Framing;
  /** Whether the client allows another request on this connection. */
  readonly keepAlive: boolean;
  readonly expectsContinue: boolean;
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)([^#]*)$/i;

/** Parses a request head (RFC 9112 sections 3 and 5), each line with its CRLF, without the empty line. */
export function parseRequestHead(text: string, fields: FieldParser, maxHeaders: number): RequestHead {
  checkOctets(text);
  const lineEnd = text.indexOf('\r\n');
  const methodEnd = text.indexOf(' ');
  const targetEnd = text.indexOf(' ', methodEnd + 1);
  if (methodEnd <= 0 || targetEnd === -1 || targetEnd > lineEnd) throw new Http1Error(400, 'malformed request line');
  // Lenient parsers end the target at a tab as well (RFC 9112 section 3).
  const tab = text.indexOf('\t');
  if (tab !== -1 && tab < lineEnd) throw new Http1Error(400, 'malformed request line');
  const method = text.slice(0, methodEnd);
  const version = requestVersion(text.slice(targetEnd + 1, lineEnd));
  if (!isMethod(method)) throw new Http1Error(400, 'invalid method');
  const headers = fields.parse(text, lineEnd + 2, maxHeaders);
  const host = takeHost(headers, version);
  const { target, authority } = resolveTarget(method, text.slice(methodEnd + 1, targetEnd), host);
  return {
    method,
    target,
    authority,
    version,
    headers,
    framing: requestFraming(headers, version),
    keepAlive: keepsAlive(headers, version),
    expectsContinue: takeExpectation(headers, version),
  };
}

function isMethod(method: string): boolean {
  return method === 'GET' || method === 'POST' || isToken(method);
}

function requestVersion(text: string): 'HTTP/1.0' | 'HTTP/1.1' {
  if (text === 'HTTP/1.1') return 'HTTP/1.1';
  if (text === 'HTTP/1.0') return 'HTTP/1.0';
  if (/^HTTP\/1\.\d$/.test(text)) return 'HTTP/1.1';
  throw /^HTTP\/\d+\.\d+$/.test(text)
    ? new Http1Error(505, 'HTTP version not supported')
    : new Http1Error(400, 'malformed request line');
}

/** RFC 9112 section 3.2: exactly one `Host`, else 400. */
function takeHost(headers: Headers, version: string): string {
  const at = headers.names.indexOf('host');
  if (at === -1) {
    if (version === 'HTTP/1.1') throw new Http1Error(400, 'missing Host');
    return '';
  }
  if (headers.names.includes('host', at + 1)) throw new Http1Error(400, 'more than one Host');
  const host = headers.values[at] ?? '';
  if (!isAuthority(host)) throw new Http1Error(400, 'invalid Host');
  headers.remove('host');
  return host;
}

function resolveTarget(method: string, target: string, host: string): { target: string; authority: string } {
  if (target.charCodeAt(0) === 0x2f /* / */) {
    if (target.includes('#')) throw new Http1Error(400, 'fragment in the request target');
    return { target, authority: host };
  }
  if (method === 'CONNECT') {
    if (!isAuthority(target) || !/:\d+$/.test(target)) throw new Http1Error(400, 'invalid CONNECT target');
    return { target: '', authority: target };
  }
  if (target === '*' && method === 'OPTIONS') return { target, authority: host };
  const absolute = ABSOLUTE.exec(target);
  if (absolute === null) throw new Http1Error(400, 'invalid request target');
  const authority = absolute[1] ?? '';
  if (authority === '' || !isAuthority(authority)) throw new Http1Error(400, 'invalid authority in the request target');
  const rest = absolute[2] ?? '';
  // RFC 9112 section 3.2.2: the target's authority replaces Host.
  return { target: rest.startsWith('/') ? rest : `/${rest}`, authority };
}

/** RFC 9112 section 9.3, over every `Connection` field. */
export function keepsAlive(headers: Headers, version: string): boolean {
  const at = headers.names.indexOf('connection');
  if (at === -1) return version === 'HTTP/1.1';
  const several = headers.names.includes('connection', at + 1);
  const lower = (several ? headers.getAll('connection').join(',') : (headers.values[at] ?? '')).toLowerCase();
  if (lower === 'keep-alive') return true;
  if (lower.includes('close') && /(?:^|[\s,])close(?:[\s,]|$)/.test(lower)) return false;
  return version === 'HTTP/1.1' || /(?:^|[\s,])keep-alive(?:[\s,]|$)/.test(lower);
}

/** The gateway answers `100-continue` itself, when it starts to read the body; the upstream never sees it. */
function takeExpectation(headers: Headers, version: string): boolean {
  const expect = headers.get('expect');
  if (expect === undefined) return false;
  if (expect.toLowerCase() !== '100-continue') throw new Http1Error(417, 'unknown expectation');
  headers.remove('expect');
  return version === 'HTTP/1.1';
}
