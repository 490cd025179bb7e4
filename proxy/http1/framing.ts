import type { Headers } from '../exchange/headers.ts';
import { Http1Error } from './limits.ts';

/** How a message tells where its body ends (RFC 9112 section 6). */
export type Framing =
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly length: number }
  | { readonly kind: 'chunked' }
  /** Responses only: until the connection closes. */
  | { readonly kind: 'close' };

const NONE: Framing = { kind: 'none' };
const CHUNKED: Framing = { kind: 'chunked' };
const CLOSE: Framing = { kind: 'close' };

/** Everything that two parsers could read differently is refused: that is what smuggling needs. */
export function requestFraming(headers: Headers, version: string): Framing {
  const coding = headers.get('transfer-encoding');
  const length = contentLength(headers, 400);
  if (coding === undefined) return length === null || length === 0 ? NONE : { kind: 'length', length };
  if (length !== null) throw new Http1Error(400, 'both Content-Length and Transfer-Encoding');
  if (version === 'HTTP/1.0') throw new Http1Error(400, 'Transfer-Encoding in an HTTP/1.0 request');
  if (coding.toLowerCase() === 'chunked' && headers.getAll('transfer-encoding').length === 1) return CHUNKED;
  const codings = headers.getAll('transfer-encoding').join(',').toLowerCase();
  throw /(?:^|[\s,])chunked[\s,]*$/.test(codings) && !/chunked.*chunked/.test(codings)
    ? new Http1Error(501, 'transfer coding not supported')
    : new Http1Error(400, 'invalid Transfer-Encoding');
}

/** RFC 9112 section 6.3 for a response to `method`. */
export function responseFraming(status: number, headers: Headers, method: string): Framing {
  if (method === 'HEAD' || status === 204 || status === 304 || status < 200) return NONE;
  const coding = headers.get('transfer-encoding');
  const length = contentLength(headers, 502);
  if (coding !== undefined) {
    if (length !== null) throw new Http1Error(502, 'both Content-Length and Transfer-Encoding');
    const codings = headers.getAll('transfer-encoding').join(',').trim().toLowerCase();
    if (codings !== 'chunked') throw new Http1Error(502, 'transfer coding not supported');
    return CHUNKED;
  }
  if (length === null) return CLOSE;
  return length === 0 ? NONE : { kind: 'length', length };
}

function contentLength(headers: Headers, status: number): number | null {
  const at = headers.names.indexOf('content-length');
  if (at === -1) return null;
  if (headers.names.includes('content-length', at + 1)) throw new Http1Error(status, 'more than one Content-Length');
  const text = headers.values[at] ?? '';
  const length = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(length)) throw new Http1Error(status, 'invalid Content-Length');
  return length;
}
