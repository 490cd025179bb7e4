import type { BackendPolicies, RoutePolicies } from '../../src/config/ir/index.ts';
import { splitAuthority } from '../exchange/message.ts';
import { settledHost } from './header-modifier/compile.ts';

/**
 * The host that a backend's requests name by the word of the configuration, without a port: one that a policy writes,
 * else `own`, the backend's. Undefined where requests decide.
 */
export function configuredHost(route: RoutePolicies, backend: BackendPolicies, own: string | undefined) {
  const written = settledHost(backend.requestHeaderModifier) ?? rewrittenTo(route);
  return written === null ? own : splitAuthority(written).host.toLowerCase();
}

/** The rewrite comes after the modifier. */
function rewrittenTo({ urlRewrite, requestHeaderModifier }: RoutePolicies): string | null {
  const authority = urlRewrite?.authority;
  if (authority?.kind === 'full' || authority?.kind === 'host') return authority.value;
  return authority?.kind === 'auto' ? null : settledHost(requestHeaderModifier);
}
