import { splitAuthority } from '../exchange/message.ts';

/** What of a listener its selection looks at; IR and compiled listeners both have it. */
export interface ListenerChoice {
  /** Exact, `*.suffix`, `*`, or empty (matches last). */
  readonly hostname: string;
  readonly protocol: { readonly kind: 'HTTP' | 'HTTPS' | 'TCP' | 'TLS' };
}

/** Which listeners of a port compete: those that speak TLS first (`HTTPS`, `TLS`), plaintext HTTP, or raw TCP. */
export type ListenerFamily = 'http' | 'tls' | 'tcp';

export type Placement = 'ok' | 'misdirected' | 'notFound';

/**
 * The listener for a host (HTTP) or an SNI name (TLS): exact, then the longest matching suffix, then the one without a
 * hostname; the first in file order among equals. `host` is as `hostOf` returns it; null when the client named none.
 */
export function chooseListener<L extends ListenerChoice>(
  listeners: readonly L[],
  host: string | null,
  family: ListenerFamily,
): L | undefined {
  let best: L | undefined;
  let bestRank = NO_MATCH;
  for (const listener of listeners) {
    if (familyOf(listener) !== family) continue;
    const rank = hostnameRank(listener.hostname, host ?? '');
    if (rank > bestRank) {
      best = listener;
      bestRank = rank;
    }
  }
  return best;
}

/**
 * Whether a request for `host` belongs on a TLS connection whose handshake chose `current`: another TLS listener of the
 * port that is the better match makes it misdirected (421); a host that nothing here serves is not found (404).
 */
export function placementOf<L extends ListenerChoice>(listeners: readonly L[], current: L, host: string): Placement {
  const best = chooseListener(listeners, host, 'tls');
  if (best !== undefined && best !== current) return 'misdirected';
  return hostnameRank(current.hostname, host) === NO_MATCH ? 'notFound' : 'ok';
}

/** The host of an authority as listeners compare it: without port and trailing dot, lower case. */
export function hostOf(authority: string): string {
  const host = splitAuthority(authority).host.toLowerCase();
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

export const NO_MATCH = -1;

/**
 * How well a hostname pattern fits: `NO_MATCH`, 0 for no hostname, more for `*`, then by length of the suffix, and most
 * for the exact name. `*.example.com` fits names of any depth below the apex.
 */
export function hostnameRank(pattern: string, host: string): number {
  if (pattern === '') return 0;
  if (pattern === '*') return 1;
  const wanted = pattern.toLowerCase();
  if (wanted.startsWith('*.')) {
    const suffix = wanted.slice(1);
    return host.length > suffix.length && host.endsWith(suffix) ? suffix.length : NO_MATCH;
  }
  return host === wanted ? Number.MAX_SAFE_INTEGER : NO_MATCH;
}

function familyOf(listener: ListenerChoice): ListenerFamily {
  if (listener.protocol.kind === 'HTTP') return 'http';
  return listener.protocol.kind === 'TCP' ? 'tcp' : 'tls';
}
