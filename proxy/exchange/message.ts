import type { Body } from './body.ts';
import type { Headers } from './headers.ts';

export type HttpVersion = 'HTTP/1.0' | 'HTTP/1.1' | 'HTTP/2.0';

/** A request as the pipeline sees and changes it. `host` is not among the headers: it is the authority. */
export interface HttpRequest {
  method: string;
  scheme: 'http' | 'https';
  /** `host[:port]`, as the client sent it until a policy changes it. */
  authority: string;
  /** Path and query, as sent; `*` for `OPTIONS *`. */
  target: string;
  readonly version: HttpVersion;
  headers: Headers;
  body: Body;
  /** The protocol of a requested upgrade (`websocket`); hop-by-hop headers are already removed. */
  upgrade: string | null;
}

/** A response head and its body. `reason` is never forwarded. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  body: Body;
}

/** Path without the query. */
export function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** Query with its `?`, or empty. */
export function queryOf(target: string): string {
  const query = target.indexOf('?');
  return query === -1 ? '' : target.slice(query);
}

/** Splits `host[:port]`; IPv6 literals keep their brackets in `host`. */
export function splitAuthority(authority: string): { host: string; port: number | undefined } {
  const close = authority.lastIndexOf(']');
  const colon = authority.indexOf(':', close === -1 ? 0 : close);
  if (colon === -1) return { host: authority, port: undefined };
  const port = Number(authority.slice(colon + 1));
  return { host: authority.slice(0, colon), port: Number.isInteger(port) && port > 0 ? port : undefined };
}
