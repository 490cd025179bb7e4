import { isAuthority, isToken } from '../exchange/grammar.ts';
import type { HttpRequest } from '../exchange/message.ts';

// RFC 3986 section 3.3: what a request target may hold, without what would end it.
const TARGET = /^\/[\u0021\u0022\u0024-\u007e]*$/;

/** Sets a part of the request line by its pseudo header, or the authority by `host`; false, and no change, when it cannot. */
export function setRequestPart(request: HttpRequest, name: string, value: string): boolean {
  switch (name) {
    case 'host':
    case ':authority':
      if (!isAuthority(value) || value === '' || value.startsWith(':')) return false;
      request.authority = value;
      return true;
    case ':path':
      // CONNECT has no path, and `*` belongs to OPTIONS alone.
      if (!TARGET.test(value) || request.method === 'CONNECT') return false;
      request.target = value;
      return true;
    case ':method':
      if (!isToken(value) || value === 'CONNECT' || request.method === 'CONNECT') return false;
      request.method = value;
      return true;
    case ':scheme':
      if (value !== 'http' && value !== 'https') return false;
      request.scheme = value;
      return true;
    default:
      return false;
  }
}
