import type { BackendPolicies } from '../../ir/policy.ts';
import type { RemoteRateLimit } from '../../ir/policy/remote-rate-limit.ts';
import type { RemoteRateLimitSpec } from '../../schema/policy/remote-rate-limit.ts';
import type { Context } from '../context.ts';
import type { Place } from '../simple-backend.ts';
import { policyService } from './policy-service.ts';

/** `policies` are those of the connection, normalized. Undefined after a problem. */
export function remoteRateLimit(
  context: Context,
  specs: { readonly spec: RemoteRateLimitSpec; readonly policies: BackendPolicies },
  place: Place,
): RemoteRateLimit | undefined {
  const { domain, descriptors, failureMode } = specs.spec;
  const service = policyService(context, specs, place);
  return (
    service && {
      service,
      domain,
      descriptors: descriptors.map(({ entries, type, cost, limitOverride }) => ({
        entries,
        ...(type === 'tokens' ? { type } : {}),
        cost,
        limitOverride,
      })),
      failureMode,
    }
  );
}
