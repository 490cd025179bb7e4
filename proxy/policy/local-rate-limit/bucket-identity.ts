import type { GatewayConfig, RoutePolicies } from '../../../src/config/ir/index.ts';
import type { LocalRateLimit } from '../../../src/config/ir/policy/local-rate-limit.ts';

/** Which budget a bucket is, across reloads: the same limit at the same place keeps what was spent. */
export function bucketIdentity(spec: LocalRateLimit, entry: number, index: number): string {
  const bucket = spec.entries[entry]?.settings[index];
  const limit =
    bucket === undefined
      ? ''
      : `${bucket.maxTokens}+${bucket.tokensPerFill}/${bucket.fillIntervalMs}${bucket.type === undefined ? '' : ` ${bucket.type}`}`;
  return `${spec.owner} ${entry}.${index} ${limit}`;
}

/** Every budget of a configuration; the control thread acquires a row for each. */
export function bucketIdentities(config: GatewayConfig): Set<string> {
  const identities = new Set<string>();
  for (const { localRateLimit } of policiesOf(config)) {
    if (localRateLimit === undefined) continue;
    for (const [entry, { settings }] of localRateLimit.entries.entries())
      for (const index of settings.keys()) identities.add(bucketIdentity(localRateLimit, entry, index));
  }
  return identities;
}

function* policiesOf(config: GatewayConfig): Generator<RoutePolicies> {
  for (const { policy } of config.policies) if (policy.kind === 'traffic') yield policy.traffic;
  for (const { listeners } of config.binds)
    for (const { routes } of listeners) for (const { policies } of routes) yield policies;
  for (const { routes } of config.routeGroups) for (const { policies } of routes) yield policies;
}
