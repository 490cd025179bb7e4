import type { BackendPolicies } from '../../ir/policy.ts';
import type { BackendTunnel } from '../../ir/policy/backend-tunnel.ts';
import type { BackendTunnelSpec } from '../../schema/policy/backend-tunnel.ts';
import type { Context } from '../context.ts';
import { type Place, simpleBackendRef } from '../simple-backend.ts';

/** Policies that mean something on the way to a proxy. */
const KNOWN: ReadonlySet<string> = new Set(['backendTLS', 'tcp', 'backendTunnel', 'backendAuth']);

/** `policies` are those of the spec, normalized. Undefined after a problem. */
export function backendTunnel(
  context: Context,
  { spec, policies }: { readonly spec: BackendTunnelSpec; readonly policies: BackendPolicies },
  { path, key }: Place,
): BackendTunnel | undefined {
  const at = [...path, 'policies'];
  for (const name of Object.keys(policies).filter((each) => !KNOWN.has(each)))
    context.report([...at, name], 'GW_CONFIG_CONFLICT', `\`${name}\` has no meaning on the way to a proxy`, {
      hint: `only ${[...KNOWN].join(', ')} have`,
    });
  const { backendTLS, tcp, backendTunnel: way, backendAuth } = policies;
  if (backendAuth !== undefined && !isHeaderKey(backendAuth)) {
    context.report([...at, 'backendAuth'], 'GW_CONFIG_CONFLICT', 'a proxy is shown a `key` in a header, nothing else');
    return undefined;
  }
  const proxy = simpleBackendRef(spec.proxy, `${key}/proxy`);
  return proxy && { proxy, policies: defined({ backendTLS, tcp, backendTunnel: way, backendAuth }) };
}

function isHeaderKey({ main, credentials }: NonNullable<BackendPolicies['backendAuth']>): boolean {
  return main?.kind === 'key' && main.location.kind === 'header' && credentials.length === 0;
}

function defined(policies: BackendTunnel['policies']): BackendTunnel['policies'] {
  return Object.fromEntries(Object.entries(policies).filter(([, value]) => value !== undefined));
}
