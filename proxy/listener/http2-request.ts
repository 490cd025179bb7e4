import { type Body } from '../exchange/body.ts';
import { isAuthority, isToken } from '../exchange/grammar.ts';
import { Headers } from '../exchange/headers.ts';
import type { HttpRequest } from '../exchange/message.ts';

/** What a HEADERS frame asks for, or why it is refused (RFC 9113 section 8.3: a malformed message is a stream error). */
export type Http2Head =
  | { readonly kind: 'request'; readonly head: Http2RequestHead }
  | { readonly kind: 'malformed'; readonly detail: string; readonly status: 400 | 431 };

export interface Http2RequestHead {
  readonly method: string;
  readonly authority: string;
  /** Empty for CONNECT. */
  readonly target: string;
  readonly headers: Headers;
  readonly contentLength: number | null;
  /** The client waits for `100 Continue` before it sends the body. */
  readonly expectsContinue: boolean;
}

/** No control but HTAB: a value is written to HTTP/1 connections too. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const TARGET = /^[\x21-\x22\x24-\x7e\x80-\xff]*$/;
const CONNECTION_SPECIFIC = new Set(['connection', 'proxy-connection', 'keep-alive', 'transfer-encoding', 'upgrade']);

/** Reads the fields of a request, names and values by turns. The library has decoded them; here they are believed or not. */
export function readRequestHead(fields: readonly string[], maxBytes: number): Http2Head {
  if (listBytes(fields) > maxBytes)
    return { kind: 'malformed', status: 431, detail: `header fields above ${maxBytes} bytes` };
  const pseudo: Record<string, string> = {};
  const headers = new Headers();
  let cookies = '';
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? '';
    const value = fields[i + 1] ?? '';
    if (name.startsWith(':')) {
      if (name in pseudo) return malformed(`${name} occurs twice`);
      if (headers.size > 0 || cookies !== '') return malformed(`${name} follows a field`);
      pseudo[name] = value;
      continue;
    }
    const refused = refuseField(name, value);
    if (refused !== null) return malformed(refused);
    // RFC 9113 section 8.2.3: crumbs are one field again for whoever is not HTTP/2.
    if (name === 'cookie') cookies = cookies === '' ? value : `${cookies}; ${value}`;
    else headers.append(name, value);
  }
  if (cookies !== '') headers.append('cookie', cookies);
  return compose(pseudo, headers);
}

/** The request that the pipeline gets. */
export function requestOf(head: Http2RequestHead, scheme: 'http' | 'https', body: Body): HttpRequest {
  const { method, authority, target, headers } = head;
  return { method, scheme, authority, target, version: 'HTTP/2.0', headers, body, upgrade: null };
}

/**
 * Size as SETTINGS_MAX_HEADER_LIST_SIZE counts it (RFC 9113 section 6.5.2). The library keeps to the limit only once the
 * client has acknowledged it, and a hostile client never does.
 */
function listBytes(fields: readonly string[]): number {
  let bytes = fields.length * 16;
  for (const text of fields) bytes += text.length;
  return bytes;
}

function refuseField(name: string, value: string): string | null {
  if (!isToken(name) || name !== name.toLowerCase()) return 'invalid field name';
  if (CONNECTION_SPECIFIC.has(name)) return `connection-specific field ${name}`;
  if (name === 'te' && value !== 'trailers') return 'te other than trailers';
  return VALUE.test(value) ? null : `invalid value of ${name}`;
}

function compose(pseudo: Readonly<Record<string, string>>, headers: Headers): Http2Head {
  const method = pseudo[':method'] ?? '';
  if (!isToken(method)) return malformed('invalid :method');
  for (const name of Object.keys(pseudo)) {
    if (name !== ':method' && name !== ':scheme' && name !== ':authority' && name !== ':path') {
      return malformed(`unknown pseudo-header ${name}`);
    }
  }
  const target = targetOf(method, pseudo[':path']);
  if (target === null) return malformed('invalid :path');
  const authority = takeAuthority(pseudo[':authority'], headers);
  if (authority === null) return malformed('invalid or contradictory authority');
  if (method === 'CONNECT' && !/:\d+$/.test(authority)) return malformed('CONNECT without a port');
  const contentLength = contentLengthOf(headers);
  if (Number.isNaN(contentLength)) return malformed('invalid content-length');
  const expectsContinue = headers.get('expect')?.toLowerCase() === '100-continue' && headers.remove('expect');
  return { kind: 'request', head: { method, authority, target, headers, contentLength, expectsContinue } };
}

function targetOf(method: string, path: string | undefined): string | null {
  if (method === 'CONNECT') return path === undefined ? '' : null;
  if (path === undefined || !TARGET.test(path)) return null;
  return path.startsWith('/') || (path === '*' && method === 'OPTIONS') ? path : null;
}

/** `:authority`, or `host` for clients that translate from HTTP/1; both only when they agree (RFC 9113 section 8.3.1). */
function takeAuthority(authority: string | undefined, headers: Headers): string | null {
  const hosts = headers.getAll('host');
  headers.remove('host');
  const [host] = hosts;
  if (hosts.length > 1) return null;
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return null;
  const chosen = authority ?? host;
  return chosen !== undefined && chosen !== '' && isAuthority(chosen) ? chosen : null;
}

/** NaN when it is there but no length. */
function contentLengthOf(headers: Headers): number | null {
  const values = headers.getAll('content-length');
  if (values.length === 0) return null;
  const text = values[0] ?? '';
  const length = values.length === 1 && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(length) ? length : Number.NaN;
}

function malformed(detail: string): Http2Head {
  return { kind: 'malformed', status: 400, detail };
}
