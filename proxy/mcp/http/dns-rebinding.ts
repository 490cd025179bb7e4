import type { HttpRequest } from '../../exchange/message.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { mcpRefusal } from './refusals.ts';

const LOCAL_AUTHORITY = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\/?$/i;

/**
 * Why a request may come from a web page that somebody has open, by way of a name that was made to point to this machine;
 * null for requests to and from this machine by its own names.
 */
export function rebindingRefusal(request: Pick<HttpRequest, 'authority' | 'headers'>): Refusal | null {
  if (request.authority !== '::1' && !LOCAL_AUTHORITY.test(request.authority)) return refused('host is not local');
  const origins = request.headers.getAll('origin');
  if (origins.length > 1) return refused('there are several origins');
  const [origin] = origins;
  return origin === undefined || LOCAL_ORIGIN.test(origin) ? null : refused('origin is not local');
}

function refused(why: string): Refusal {
  return mcpRefusal(403, `MCP DNS rebinding protection: ${why}`);
}
