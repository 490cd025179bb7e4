import { createHash } from 'node:crypto';

import type { JsonObject } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';

export const BEGUN_BY_ANOTHER = 'the session was begun by another client';

/**
 * Whom the gateway itself has found the client to be, as a digest (base64url, 43 characters); null where it has
 * authenticated nobody. A token says more than a key, a key more than a certificate, which a proxy in between may have:
 * the first that there is counts, so that a refreshed token or a renewed certificate changes nothing.
 */
export function principalOf(exchange: Exchange): string | null {
  const known = knownOf(exchange);
  return known === null ? null : createHash('sha256').update(JSON.stringify(known)).digest('base64url');
}

/** Told to whoever watches the request; the client hears the same as of a session that never was. */
export function foreign({ trace }: Exchange): 'foreign' {
  trace?.emit({ type: 'policyEvent', kind: 'mcp', details: BEGUN_BY_ANOTHER }, 'error');
  return 'foreign';
}

function knownOf({ attributes, connection }: Exchange): readonly unknown[] | null {
  const { jwt, apiKey, basicAuth } = attributes;
  if (jwt !== null) return ['jwt', jwt.claims['iss'] ?? null, subjectOf(jwt.claims)];
  if (apiKey !== null) return ['key', apiKey.key.reveal()];
  if (basicAuth !== null) return ['user', basicAuth.username];
  const peer = connection.tls?.peer ?? null;
  if (peer === null) return null;
  return peer.spiffeId === null ? ['certificate', peer.issuer, peer.subject] : ['spiffe', peer.spiffeId];
}

/** Tokens of programs may name the program alone (RFC 9068 section 2.2, and `azp` of OpenID Connect). */
function subjectOf({ sub, client_id: client, azp }: JsonObject): unknown {
  return sub ?? client ?? azp ?? null;
}
