import type { BackendPolicies } from '../../ir/policy.ts';
import type { ExtAuthz } from '../../ir/policy/ext-authz.ts';
import type { ExtAuthzSpec, NetworkExtAuthzSpec } from '../../schema/policy/ext-authz.ts';
import type { Context } from '../context.ts';
import type { Place } from '../simple-backend.ts';
import { policyService } from './policy-service.ts';

const DEFAULT_ENTRIES = 10_000;

interface Specs<S> {
  readonly spec: S;
  /** Those of the connection, normalized. */
  readonly policies: BackendPolicies;
}

/** Undefined after a problem. */
export function extAuthz(context: Context, specs: Specs<ExtAuthzSpec>, place: Place): ExtAuthz | undefined {
  const { spec } = specs;
  const service = policyService(context, specs, place);
  const { includeRequestBody: body } = spec;
  if (body?.packAsBytes === true && spec.protocol?.http !== undefined)
    context.report(
      [...place.path, 'includeRequestBody', 'packAsBytes'],
      'GW_CONFIG_CONFLICT',
      '`packAsBytes` has no effect: over HTTP a body always goes as bytes',
      { severity: 'warning' },
    );
  return (
    service && {
      service,
      protocol: protocolOf(spec.protocol),
      failure: failureOf(spec.failureMode),
      includeRequestHeaders: spec.includeRequestHeaders.map(lowerCase),
      includeRequestBody: body && {
        maxBytes: body.maxRequestBytes,
        allowPartial: body.allowPartialMessage,
        packAsBytes: body.packAsBytes,
      },
      cache: cacheOf(spec.cache),
    }
  );
}

/** About connections: HTTP, and nothing of a request. Undefined after a problem. */
export function networkExtAuthz(
  context: Context,
  specs: Specs<NetworkExtAuthzSpec>,
  place: Place,
): ExtAuthz | undefined {
  const { protocol, failureMode, cache } = specs.spec;
  const service = policyService(context, specs, place);
  return (
    service && {
      service,
      protocol: { kind: 'http', ...protocol.http, includeResponseHeaders: [], metadata: {} },
      failure: failureOf(failureMode),
      includeRequestHeaders: [],
      cache: cacheOf(cache),
    }
  );
}

function protocolOf(spec: ExtAuthzSpec['protocol']): ExtAuthz['protocol'] {
  const http = spec?.http;
  if (http === undefined) return { kind: 'grpc', context: spec?.grpc?.context ?? {}, metadata: spec?.grpc?.metadata };
  return { kind: 'http', ...http, includeResponseHeaders: http.includeResponseHeaders.map(lowerCase) };
}

function failureOf(mode: ExtAuthzSpec['failureMode']): ExtAuthz['failure'] {
  if (mode === 'allow') return 'allow';
  return mode === 'deny' ? { denyWithStatus: 403 } : mode;
}

function cacheOf(spec: ExtAuthzSpec['cache']): ExtAuthz['cache'] {
  return spec && { ...spec, maxEntries: spec.maxEntries === 0 ? DEFAULT_ENTRIES : spec.maxEntries };
}

function lowerCase(name: string): string {
  return name.toLowerCase();
}
