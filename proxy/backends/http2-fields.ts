import { Headers } from '../exchange/headers.ts';
import type { UpstreamRequest } from './upstream.ts';

/** Fields that HTTP/2 has no place for (RFC 9113 section 8.2.2); `content-length` is written from the body. */
const CONNECTION_FIELDS = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'host',
  'content-length',
]);

/** A request's fields in the order and form that HTTP/2 wants them. */
export function rawHeaders(request: UpstreamRequest): string[] {
  const { names, values } = request.headers;
  const raw = [':method', request.method, ':scheme', request.scheme, ':authority', request.authority];
  raw.push(':path', request.target === '' ? '/' : request.target);
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    const value = values[i] ?? '';
    if (CONNECTION_FIELDS.has(name) || (name === 'te' && value !== 'trailers')) continue;
    raw.push(name, value);
  }
  const { length } = request.body;
  if (length !== null && (length > 0 || request.method === 'POST' || request.method === 'PUT')) {
    raw.push('content-length', String(length));
  }
  return raw;
}

/** Fields of a received block, pseudo fields left out. */
export function fieldsOf(raw: readonly string[]): Headers {
  const names: string[] = [];
  const values: string[] = [];
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? '';
    if (name.startsWith(':')) continue;
    names.push(name);
    values.push(raw[i + 1] ?? '');
  }
  return new Headers(names, values);
}
