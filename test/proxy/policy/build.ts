import { createExpressions } from '../../../proxy/expression/expressions.ts';
import { silentLog } from '../../../proxy/engine/policy-deps.ts';
import type { PolicyContext, PolicyDeps } from '../../../proxy/policy/contract.ts';
import { ownBuckets } from '../../../proxy/policy/local-rate-limit/own-buckets.ts';
import { NamedStores } from '../../../proxy/policy/stores.ts';
import { ThreadResources } from '../../../proxy/resources/thread-resources.ts';
import type {
  BackendPolicies,
  HttpRoute,
  RouteBackend,
  RoutePolicies,
  TargetedPolicy,
} from '../../../src/config/ir/index.ts';
import { ManualClock } from '../exchange/build.ts';

export interface TestDeps extends PolicyDeps {
  readonly clock: ManualClock;
  readonly stages: string[];
}

export function deps(): TestDeps {
  const stages: string[] = [];
  return {
    clock: new ManualClock(),
    maxBufferSize: 8,
    streamIdleTimeoutMs: 300_000,
    expressions: createExpressions(),
    services: {
      open: () => {
        throw new Error('no services here');
      },
    },
    stores: new NamedStores(),
    buckets: ownBuckets,
    resources: new ThreadResources(),
    log: silentLog(),
    stages,
    snapshot: (_exchange, stage) => stages.push(stage),
    responseSnapshot: (_exchange, _response, stage) => stages.push(stage),
  };
}

export function context(own: PolicyDeps = deps()): PolicyContext {
  return { phase: 'route', source: 'route default/r1', deps: own };
}

export function route(name: string, policies: RoutePolicies = {}, rest: Partial<HttpRoute> = {}): HttpRoute {
  const matches = [{ path: { kind: 'pathPrefix', value: '/' }, headers: [], query: [] }] as const;
  return {
    key: `gateway/default/default/${name}`,
    name,
    namespace: 'default',
    hostnames: [],
    matches,
    policies,
    backends: [],
    ...rest,
  };
}

export function routeBackend(policies: BackendPolicies = {}): RouteBackend {
  return { weight: 1, index: 0, target: { kind: 'reference', backend: '/b' }, policies };
}

type Target = TargetedPolicy['target'];

export const onGateway: Target = { kind: 'gateway', gatewayName: 'default', gatewayNamespace: 'default' };
export const onListener: Target = { ...onGateway, listenerName: 'http' };
export const onPort: Target = { ...onGateway, port: 8080 };
export function toRoute(name: string, ruleName?: string): Target {
  return { kind: 'route', name, namespace: 'default', ...(ruleName === undefined ? {} : { ruleName }) };
}

export function traffic(name: string, target: Target, policies: RoutePolicies): TargetedPolicy {
  const policy = { kind: 'traffic', traffic: policies } as const;
  return { key: `default/${name}`, name, namespace: 'default', target, phase: 'route', policy };
}

export function about(name: string, target: Target, policies: BackendPolicies): TargetedPolicy {
  const policy = { kind: 'backend', backend: policies } as const;
  return { key: `default/${name}`, name, namespace: 'default', target, phase: 'route', policy };
}

export const place = {
  bind: { port: 8080 },
  listener: { name: 'http', gatewayName: 'default', gatewayNamespace: 'default' },
};
