import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { mcpRefusal } from './refusals.ts';

const LOCAL_AUTHORITY = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\/?$/i;

/** The host as the client has named it: that a route gives the backend another one says nothing of the page. */
export type Addressed = Pick<Exchange, 'clientAuthority'> & { readonly request: Pick<Exchange['request'], 'headers'> };

/**
 * Why a request may come from a web page that somebody has open, by way of a name that was made to point to this machine;
 * null for requests to and from this machine by its own names.
 */
export function rebindingRefusal({ clientAuthority, request }: Addressed): Refusal | null {
  if (clientAuthority !== '::1' && !LOCAL_AUTHORITY.test(clientAuthority)) return refused('host is not local');
  const origins = request.headers.getAll('origin');
  if (origins.length > 1) return refused('there are several origins');
  const [origin] = origins;
  return origin === undefined || LOCAL_ORIGIN.test(origin) ? null : refused('origin is not local');
}

function refused(why: string): Refusal {
  return mcpRefusal(403, `MCP DNS rebinding protection: ${why}`);
}
