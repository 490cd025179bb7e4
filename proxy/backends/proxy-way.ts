import { createHash } from 'node:crypto';

import type { BackendAuth, BackendPolicies } from '../../src/config/ir/index.ts';
import { GwError } from '../../src/shared/errors.ts';
import { Secret } from '../../src/shared/secret.ts';
import { backendTlsKey } from './origin-tls.ts';
import type { ProxyWay } from './origin.ts';
import type { ResolvedBackend } from './resolved.ts';
import { type Origin, UpstreamError } from './upstream.ts';

/** A resolved backend as the proxy on the way to others. Throws a `GwError` for one that has no address of its own. */
export function proxyWay(resolved: ResolvedBackend, policies: BackendPolicies): ProxyWay {
  if (resolved.kind !== 'host' && resolved.kind !== 'service') {
    throw new GwError(`backendTunnel: ${resolved.name} cannot be a proxy`, {
      code: 'GW_BACKEND_TUNNEL',
      hint: 'a proxy is a host or a service',
    });
  }
  return {
    key: `via ${resolved.key} ${connectionKey(policies)}`,
    credential: proxyCredential(policies.backendAuth),
    origin: () => originOf(resolved),
  };
}

/** Chosen for each connection: a proxy may be a service of several endpoints. */
function originOf(proxy: ResolvedBackend): Origin {
  const picked = proxy.pickTunnel(null);
  if (picked.kind === 'picked') return picked.origin;
  throw new UpstreamError('connect', `the proxy cannot be reached: ${picked.refusal.message}`);
}

/** What shapes the connections of a backend and the account of its health; holds no secret that can be read. */
export function connectionKey({ backendTLS, http, tcp, health, backendTunnel }: BackendPolicies): string {
  const tls = backendTLS === undefined ? null : backendTlsKey(backendTLS);
  const way = backendTunnel && [backendTunnel.proxy, tunnelKey(backendTunnel.policies)];
  return JSON.stringify([tls, http, tcp, health, way]);
}

function tunnelKey(policies: BackendPolicies): string {
  const credential = proxyCredential(policies.backendAuth);
  const shown = credential === null ? '' : `${credential.header}: ${credential.value.reveal()}`;
  return `${connectionKey(policies)} ${createHash('sha256').update(shown).digest('base64url')}`;
}

/** A key that is written to a header; one for `authorization` is meant for the proxy. */
function proxyCredential(auth: BackendAuth | undefined): ProxyWay['credential'] {
  const main = auth?.main;
  if (main?.kind !== 'key' || main.location.kind !== 'header') return null;
  const { name, prefix } = main.location;
  return {
    header: name === 'authorization' ? 'proxy-authorization' : name,
    value: new Secret(prefix + main.key.reveal()),
  };
}
