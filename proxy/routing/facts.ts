import type { HttpRequest } from '../exchange/message.ts';
import { pathOf, queryOf } from '../exchange/message.ts';

/** What routing looks at; an `HttpRequest` is one. */
export type RoutedRequest = Pick<HttpRequest, 'method' | 'scheme' | 'authority' | 'target' | 'headers'>;

/** The path that routes are compared with: bytes as sent. CONNECT, `OPTIONS *` and an empty path count as `/`. */
export function routedPath(target: string): string {
  return target.charCodeAt(0) === 47 ? pathOf(target) : '/';
}

/** The host that routes are compared with: lower case, without port and without the root's trailing dot. */
export function routedHost(authority: string): string {
  let end = authority.length;
  if (authority.charCodeAt(0) === 91) {
    const close = authority.indexOf(']');
    if (close !== -1) end = close + 1;
  } else {
    const colon = authority.indexOf(':');
    if (colon !== -1) end = colon;
  }
  if (end > 1 && authority.charCodeAt(end - 1) === 46) end -= 1;
  return authority.slice(0, end).toLowerCase();
}

/** The parameters of a query, form-decoded. */
export function queryParameters(target: string): URLSearchParams {
  return new URLSearchParams(queryOf(target));
}
