import { describe, expect, test } from '@jest/globals';

import { effectiveBackendPolicies, effectiveRoutePolicies } from '../../../proxy/policy/effective.ts';
import type { BackendPolicies, RoutePolicies, TargetedPolicy } from '../../../src/config/ir/index.ts';
import { about, onGateway, onListener, onPort, place, route, routeBackend, toRoute, traffic } from './build.ts';

const delayOf = (durationMs: number): RoutePolicies => ({ delay: { kind: 'fixed', durationMs } });
const bufferOf = (maxBytes: number): RoutePolicies => ({
  buffer: { request: { maxBytes, failureMode: 'failClosed' } },
});
const httpOf = (requestTimeoutMs: number): BackendPolicies => ({ http: { requestTimeoutMs } });

describe('effectiveRoutePolicies', () => {
  // From the least to the most specific; each test takes the levels up to one.
  const parent = route('parent', {}, { ruleName: 'one' });
  const child = route('child', {}, { ruleName: 'two' });
  const levels: TargetedPolicy[] = [
    traffic('gateway', onGateway, delayOf(1)),
    traffic('listener', onListener, delayOf(2)),
    traffic('parent', toRoute('parent'), delayOf(3)),
    traffic('parent-rule', toRoute('parent', 'one'), delayOf(4)),
    traffic('child', toRoute('child'), delayOf(5)),
    traffic('child-rule', toRoute('child', 'two'), delayOf(6)),
  ];

  test.each(levels.map((policy, index): [string, number] => [policy.name, index]))(
    'lets %s beat what is less specific',
    (_name, index) => {
      const policies = levels.slice(0, index + 1).toReversed();
      const { values, sources } = effectiveRoutePolicies({ policies }, { ...place, chain: [parent, child] });
      expect(values.delay).toEqual({ kind: 'fixed', durationMs: index + 1 });
      expect(sources.delay).toMatch(new RegExp(`^policy default/${levels[index]?.name} on `));
    },
  );

  test('lets inline policies beat targeted ones, the child the parent', () => {
    const chain = [route('parent', delayOf(7)), route('child')];
    const only = effectiveRoutePolicies({ policies: levels }, { ...place, chain });
    expect(only).toEqual({ values: delayOf(7), sources: { delay: 'route default/parent' } });
    const both = effectiveRoutePolicies(
      { policies: levels },
      { ...place, chain: [chain[0] ?? parent, route('child', delayOf(8))] },
    );
    expect(both).toEqual({ values: delayOf(8), sources: { delay: 'route default/child' } });
  });

  test('merges policy by policy, not all or nothing', () => {
    const policies = [traffic('g', onGateway, { ...delayOf(1), timeout: { requestTimeoutMs: 9 } })];
    const { values, sources } = effectiveRoutePolicies({ policies }, { ...place, chain: [route('r', delayOf(2))] });
    expect(values).toEqual({ delay: { kind: 'fixed', durationMs: 2 }, timeout: { requestTimeoutMs: 9 } });
    expect(sources).toEqual({ delay: 'route default/r', timeout: 'policy default/g on gateway default/default' });
  });

  test('keeps the least specific buffer', () => {
    const policies = [traffic('l', onListener, bufferOf(2)), traffic('g', onGateway, bufferOf(1))];
    const scope = { ...place, chain: [route('r', bufferOf(3))] };
    expect(effectiveRoutePolicies({ policies }, scope).values).toEqual(bufferOf(1));
    expect(effectiveRoutePolicies({ policies: [] }, scope)).toEqual({
      values: bufferOf(3),
      sources: { buffer: 'route default/r' },
    });
  });

  test('takes the first in the file of several on one target', () => {
    const policies = [traffic('a', onGateway, delayOf(1)), traffic('b', onGateway, delayOf(2))];
    expect(effectiveRoutePolicies({ policies }, { ...place, chain: [route('r')] }).values).toEqual(delayOf(1));
  });

  test('ignores what is attached elsewhere, or to another phase', () => {
    const policies: TargetedPolicy[] = [
      traffic('other-gateway', { kind: 'gateway', gatewayName: 'other', gatewayNamespace: 'default' }, delayOf(1)),
      traffic(
        'other-port',
        { ...onGateway, kind: 'gateway', gatewayName: 'default', gatewayNamespace: 'default', port: 1 },
        delayOf(2),
      ),
      traffic('other-route', toRoute('x'), delayOf(3)),
      traffic('other-rule', toRoute('r', 'x'), delayOf(4)),
      traffic('tcp', { kind: 'route', name: 'r', namespace: 'default', routeKind: 'TCPRoute' }, delayOf(5)),
      { ...traffic('gateway-phase', onGateway, delayOf(6)), phase: 'gateway' },
    ];
    expect(effectiveRoutePolicies({ policies }, { ...place, chain: [route('r')] })).toEqual({
      values: {},
      sources: {},
    });
  });

  test('attaches by the port of the bind', () => {
    const policies = [traffic('g', onGateway, delayOf(1)), traffic('p', onPort, delayOf(2))];
    expect(effectiveRoutePolicies({ policies }, { ...place, chain: [route('r')] }).values).toEqual(delayOf(2));
  });

  test('does not take the name of the rule as a name of the source', () => {
    const scope = { ...place, chain: [route('r', delayOf(1), { ruleName: 'one' })] };
    expect(effectiveRoutePolicies({ policies: [] }, scope).sources.delay).toBe('route default/r rule one');
  });
});

describe('effectiveBackendPolicies', () => {
  const service = { hostname: 'b.svc', namespace: 'ns', port: 80 };
  const serviceTarget = { kind: 'service', hostname: 'b.svc', namespace: 'ns' } as const;
  const levels: TargetedPolicy[] = [
    about('gateway', onGateway, httpOf(1)),
    about('listener', onListener, httpOf(2)),
    about('backend', serviceTarget, httpOf(3)),
    about('section', { ...serviceTarget, port: 80 }, httpOf(4)),
    about('parent', toRoute('parent'), httpOf(5)),
    about('child', toRoute('child'), httpOf(6)),
    about('child-rule', toRoute('child', 'two'), httpOf(7)),
  ];
  const chain = [route('parent'), route('child', {}, { ruleName: 'two' })];
  const reference = { ...routeBackend(), target: { kind: 'service', ...service } as const };

  test.each(levels.map((policy, index): [string, number] => [policy.name, index]))(
    'lets %s beat what is less specific',
    (_name, index) => {
      const policies = levels.slice(0, index + 1).toReversed();
      const { values } = effectiveBackendPolicies({ policies }, { ...place, chain, routeBackend: reference, service });
      expect(values.http?.requestTimeoutMs).toBe(index + 1);
    },
  );

  test('lets the named backend beat targets and the reference beat both', () => {
    const backend = { kind: 'dynamic', key: '/b' } as const;
    const named = { name: 'b', backend, policies: httpOf(8) };
    const scope = { ...place, chain, named, routeBackend: routeBackend() };
    expect(effectiveBackendPolicies({ policies: levels }, scope)).toEqual({
      values: httpOf(8),
      sources: { http: 'backend /b' },
    });
    const own = effectiveBackendPolicies({ policies: levels }, { ...scope, routeBackend: routeBackend(httpOf(9)) });
    expect(own).toEqual({ values: httpOf(9), sources: { http: 'route default/child rule two backend 0' } });
  });

  test('hands the TLS of a route to its backends, the child before the parent', () => {
    const tls = (hostname: string): RoutePolicies => ({ backendTLS: { verify: 'full', hostname } });
    const policies = [traffic('g', onGateway, tls('gateway'))];
    const scope = { ...place, routeBackend: routeBackend() };
    const of = (...routes: ReturnType<typeof route>[]): string | undefined =>
      effectiveBackendPolicies({ policies }, { ...scope, chain: routes }).values.backendTLS?.hostname;
    expect(of(route('a'))).toBe('gateway');
    expect(of(route('a', tls('a')), route('b'))).toBe('a');
    expect(of(route('a', tls('a')), route('b', tls('b')))).toBe('b');
  });

  test('leaves the policies of routes to the routes', () => {
    const policies = [traffic('g', onGateway, { requestRedirect: { status: 301 } })];
    const scope = { ...place, chain: [route('r', { requestRedirect: { status: 302 } })], routeBackend: routeBackend() };
    expect(effectiveBackendPolicies({ policies }, scope).values).toEqual({});
  });

  test('attaches to a named backend by its name', () => {
    const policies = [about('p', { kind: 'backend', name: 'b', namespace: 'default' }, httpOf(1))];
    const named = { name: 'b', backend: { kind: 'dynamic', key: '/b' } as const, policies: {} };
    const scope = { ...place, chain: [], routeBackend: routeBackend() };
    expect(effectiveBackendPolicies({ policies }, { ...scope, named }).values).toEqual(httpOf(1));
    expect(effectiveBackendPolicies({ policies }, { ...scope, named: { ...named, name: 'c' } }).values).toEqual({});
    expect(effectiveBackendPolicies({ policies }, scope).values).toEqual({});
  });

  test('lets whatever anybody says beat what the address of a member implies', () => {
    const tls = (hostname: string): BackendPolicies => ({ backendTLS: { verify: 'full', hostname } });
    const member = { name: 'm', policies: {}, defaults: tls('implied') };
    const scope = { ...place, chain: [route('r')], routeBackend: routeBackend({}), member };
    expect(effectiveBackendPolicies({ policies: [] }, scope)).toEqual({
      values: tls('implied'),
      sources: { backendTLS: 'target m' },
    });
    const policies = [about('g', onGateway, tls('said'))];
    expect(effectiveBackendPolicies({ policies }, scope).values).toEqual(tls('said'));
  });

  test('calls servers of MCP targets, and services of language models providers', () => {
    const own = { name: 'm', policies: httpOf(1) };
    const scope = { ...place, chain: [route('r')], routeBackend: routeBackend({}) };
    const sourceOf = (member: NonNullable<Parameters<typeof effectiveBackendPolicies>[1]['member']>) =>
      effectiveBackendPolicies({ policies: [] }, { ...scope, member }).sources.http;
    expect([sourceOf(own), sourceOf({ ...own, defaults: {} })]).toEqual(['provider m', 'target m']);
  });

  test('takes rules about tools from all levels, and what else routes say of servers of tools', () => {
    const rules = (expression: string) => ({ mcpAuthorization: { rules: [{ mode: 'allow' as const, expression }] } });
    const policies = [about('g', onGateway, rules('1'))];
    const chain = [route('r', { ...rules('2'), a2a: {}, mcpGuardrails: { processors: [] } })];
    const { values } = effectiveBackendPolicies(
      { policies },
      { ...place, chain, routeBackend: routeBackend(rules('3')) },
    );
    expect(values.mcpAuthorization?.rules.map(({ expression, source }) => `${expression} ${source}`)).toEqual([
      '1 policy default/g on gateway default/default',
      '2 route default/r',
      '3 route default/r backend 0',
    ]);
    expect(values).toMatchObject({ a2a: {}, mcpGuardrails: { processors: [] } });
  });
});
