import { describe, expect, test } from '@jest/globals';

import { policyWarnings } from '../../../proxy/policy/warnings.ts';
import type { GatewayConfig, TargetedPolicy } from '../../../src/config/ir/index.ts';
import { about, onGateway, onListener, onPort, place, route, toRoute, traffic } from './build.ts';

const timeout = { timeout: { requestTimeoutMs: 1 } };
const tcpRoute = { name: 'bytes', namespace: 'default', backends: [{ target: { kind: 'reference', backend: '/b' } }] };

function warningsOf(...policies: TargetedPolicy[]): readonly string[] {
  return warningsWith({}, policies);
}

function warningsWith(ofBackend: object, policies: TargetedPolicy[]): readonly string[] {
  const listener = { ...place.listener, routes: [route('r', {}, { ruleName: 'one' })], tcpRoutes: [tcpRoute] };
  const backends = [{ name: 'b', backend: { kind: 'dynamic', key: '/b' }, policies: ofBackend }];
  const services = [{ hostname: 'b.svc', namespace: 'ns', ports: { 80: 8080 } }];
  const config = {
    binds: [{ ...place.bind, listeners: [listener] }],
    routeGroups: [{ name: 'g', routes: [route('grouped')] }],
    backends,
    services,
    policies,
  };
  // Only what attachment looks at.
  return policyWarnings(config as unknown as GatewayConfig);
}

describe('policyWarnings', () => {
  test('has nothing to say about policies that hold somewhere', () => {
    const http = { http: { requestTimeoutMs: 1 } };
    const found = warningsOf(
      traffic('a', onGateway, timeout),
      traffic('b', onListener, timeout),
      traffic('c', onPort, timeout),
      traffic('d', toRoute('r', 'one'), timeout),
      traffic('e', toRoute('grouped'), timeout),
      about('f', { kind: 'backend', name: 'b', namespace: 'default' }, http),
      about('g', { kind: 'service', hostname: 'b.svc', namespace: 'ns', port: 80 }, http),
    );
    expect(found).toEqual([]);
  });

  test('names a policy that is attached to nothing', () => {
    expect(
      warningsOf(
        traffic('a', toRoute('x'), timeout),
        traffic(
          'b',
          { kind: 'gateway', gatewayName: 'default', gatewayNamespace: 'default', listenerName: 'x' },
          timeout,
        ),
        about('c', { kind: 'backend', name: 'b', namespace: 'default', section: 's' }, {}),
        traffic('d', { kind: 'listenerSet', name: 'l', namespace: 'default' }, timeout),
        traffic('e', { kind: 'service', hostname: 'b.svc', namespace: 'ns' }, timeout),
      ),
    ).toEqual([
      'policy default/a on route default/x is attached to nothing: there is no such route default/x',
      'policy default/b on gateway default/default listener x is attached to nothing: there is no such gateway default/default listener x',
      'policy default/c on backend default/b section s is attached to nothing: there is no such backend default/b section s',
      'policy default/d on listener set default/l is attached to nothing: there is no such listener set default/l',
      'policy default/e on service ns/b.svc is attached to nothing: there is no such service ns/b.svc for a policy of routes',
    ]);
  });

  test('names a policy of requests on a route that carries bytes', () => {
    expect(
      warningsOf(
        traffic('a', toRoute('bytes'), timeout),
        about('b', toRoute('bytes'), { backendTLS: { verify: 'none' } }),
      ),
    ).toEqual([
      'policy default/a on route default/bytes has no effect: timeout needs requests, and a TCP route carries bytes',
    ]);
  });

  test('names what a backend says about requests where a route carries bytes to it', () => {
    const policies = { backendTLS: { verify: 'none' }, authorization: { rules: [] }, http: {} };
    expect(warningsWith(policies, [])).toEqual([
      'policies of backend b have no effect on route default/bytes, which carries bytes: authorization, http',
    ]);
  });

  test('names a policy that an earlier one hides', () => {
    expect(warningsOf(traffic('a', onGateway, timeout), traffic('b', onGateway, timeout))).toEqual([
      'policy default/b on gateway default/default has no effect: policy default/a on gateway default/default already says timeout',
    ]);
  });
});
