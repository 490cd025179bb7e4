import type { SimpleBackendRef } from '../../ir/backend.ts';
import type { BackendPolicies } from '../../ir/policy.ts';
import type { ServiceRef } from '../../ir/policy/policy-service.ts';
import { danglingService } from '../../load/check-value.ts';
import type { PolicyServiceSpec } from '../../schema/policy/policy-service.ts';
import type { Context } from '../context.ts';
import { parseServiceHost } from '../service-host.ts';
import { type Place, simpleBackend } from '../simple-backend.ts';

/** What a connection to a service understands. */
const KNOWN: ReadonlySet<string> = new Set(['requestHeaderModifier', 'backendTLS', 'http', 'tcp', 'backendTunnel']);

export interface ServiceSource {
  readonly spec: PolicyServiceSpec;
  /** Those of the spec, normalized. */
  readonly policies: BackendPolicies;
  /** The policy can show the service credentials. */
  readonly credentials?: boolean;
}

/** The service that a policy at `place` calls; undefined after a problem. */
export function policyService(
  context: Context,
  { spec, policies, credentials = false }: ServiceSource,
  place: Place,
): ServiceRef | undefined {
  const isKnown = (name: string): boolean => KNOWN.has(name) || (credentials && name === 'backendAuth');
  for (const name of Object.keys(policies).filter((each) => !isKnown(each)))
    context.report(
      [...place.path, 'policies', name],
      'GW_CONFIG_NOT_BUILT',
      `\`${name}\` on the way to the service of a policy is not built in this release`,
      { atKey: true },
    );
  if (spec.host !== undefined) return written(spec.host, policies, place);
  const target = declared(context, spec, place);
  return target && { target, policies };
}

/** An address; what cannot be read was told while screening. */
function written(host: string, policies: BackendPolicies, { key }: Place): ServiceRef | undefined {
  const read = parseServiceHost(host);
  if (typeof read === 'string') return undefined;
  const backend = { kind: 'host', key: `${key}/service`, target: read.target } as const;
  const secured = read.tls && policies.backendTLS === undefined ? { ...policies, backendTLS: DEFAULT_TLS } : policies;
  return { target: { kind: 'inline', backend }, policies: secured };
}

/** Of `https://` addresses that say nothing else: the roots of the system, the name that is dialled. */
const DEFAULT_TLS: NonNullable<BackendPolicies['backendTLS']> = { verify: 'full' };

function declared(context: Context, spec: PolicyServiceSpec, { path }: Place): SimpleBackendRef | undefined {
  const { service, backend, name, port } = spec;
  if (name === undefined || port === undefined) return simpleBackend({ service, backend });
  // Nested services are looked up while screening.
  const problems = danglingService({ name, port }, { path, names: context.names });
  context.problems.push(...problems);
  return problems.length > 0 ? undefined : simpleBackend({ service: { name, port } });
}
