import { describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';

import { ChainCache, resolveDelegation } from '../../../proxy/routing/delegation.ts';
import type { RouteTable } from '../../../proxy/routing/table.ts';
import { compileRouteTable } from '../../../proxy/routing/table.ts';
import { WeightedPick } from '../../../proxy/routing/weighted.ts';
import type { RouteShort } from './build.ts';
import { groupBackend, referenceBackend, request, route } from './build.ts';

function tableOf(routes: RouteShort[]): RouteTable<string> {
  return compileRouteTable(routes.map((short) => ({ route: route(short), value: short.name })));
}

function resolve(parent: RouteShort, groups: Record<string, RouteShort[]>, target: string, random = () => 0) {
  const start = tableOf([parent]).match(request({ target }));
  if (start === null) throw new Error('the parent must match');
  const tables = new Map(Object.entries(groups).map(([name, routes]) => [name, tableOf(routes)]));
  const result = resolveDelegation(start, { request: request({ target }), groups: tables, random });
  return { ...result, chain: result.chain.map((each) => each.value) };
}

describe('resolveDelegation', () => {
  const leaf = { name: 'leaf', matches: [{ prefix: '/api/v1' }], backends: [referenceBackend('/b')] };

  test('follows groups to the route that has a backend', () => {
    const middle = { name: 'middle', matches: [{ prefix: '/api' }], backends: [groupBackend('inner')] };
    const result = resolve(
      { name: 'top', backends: [groupBackend('outer')] },
      { outer: [middle], inner: [leaf] },
      '/api/v1/x',
    );
    expect(result).toMatchObject({
      kind: 'backend',
      chain: ['top', 'middle', 'leaf'],
      backend: { target: { backend: '/b' } },
    });
  });

  test('draws at each level', () => {
    const groups = {
      one: [leaf],
      two: [{ name: 'other', backends: [referenceBackend('/x'), referenceBackend('/y', 3, 1)] }],
    };
    const parent = { name: 'top', backends: [groupBackend('one', 1), groupBackend('two', 1, 1)] };
    const draws = [0.6, 0.3];
    const result = resolve(parent, groups, '/api/v1', () => draws.shift() ?? 0);
    expect(result).toMatchObject({ chain: ['top', 'other'], backend: { target: { backend: '/y' } } });
  });

  test.each([
    ['an unknown group', {}],
    ['a group without a matching route', { outer: [leaf] }],
  ])('answers 404 for %s', (_what, groups) => {
    const result = resolve({ name: 'top', backends: [groupBackend('outer')] }, groups, '/else');
    expect(result).toMatchObject({
      kind: 'refused',
      refusal: { status: 404, message: 'route not found', reason: 'NotFound' },
    });
  });

  test('answers 500 when a route is met again', () => {
    const groups = {
      a: [{ name: 'a1', backends: [groupBackend('b')] }],
      b: [{ name: 'b1', backends: [groupBackend('a')] }],
    };
    const result = resolve({ name: 'top', backends: [groupBackend('a')] }, groups, '/');
    expect(result).toMatchObject({
      kind: 'refused',
      chain: ['top', 'a1', 'b1'],
      refusal: { status: 500, message: 'route delegation cycle detected' },
    });
  });

  test('tells when a chain ends without a backend', () => {
    const groups = { a: [{ name: 'none' }] };
    expect(resolve({ name: 'top', backends: [groupBackend('a')] }, groups, '/')).toMatchObject({ kind: 'noBackend' });
  });
});

describe('ChainCache', () => {
  test('builds once for each chain', () => {
    const build = jest.fn((chain: readonly { key: string }[]) => chain.map(({ key }) => key).join('>'));
    const cache = new ChainCache(build);
    const [a, b] = [{ route: route({ name: 'a' }) }, { route: route({ name: 'b' }) }];
    expect(cache.get([a, b])).toBe('a>b');
    expect(cache.get([a, b])).toBe('a>b');
    expect(cache.get([a])).toBe('a');
    expect(build).toHaveBeenCalledTimes(2);
  });
});

function pick(weights: number[], drawn: number): number | undefined {
  const items = weights.map((weight, at) => ({ weight, at }));
  return new WeightedPick(items, (item) => item.weight).choose(() => drawn)?.at;
}

describe('WeightedPick', () => {
  test('gives nothing when nothing has a weight', () => {
    expect(pick([], 0)).toBeUndefined();
    expect(pick([0, 0], 0.5)).toBeUndefined();
  });

  test('gives each item its share and none to a weight of zero', () => {
    expect([0, 0.24, 0.25, 0.9999].map((drawn) => pick([1, 0, 3], drawn))).toEqual([0, 0, 2, 2]);
  });

  test('agrees with a linear search', () => {
    const weights = fc.array(fc.nat({ max: 5 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(weights, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (list, drawn) => {
        let left = drawn * list.reduce((sum, weight) => sum + weight, 0);
        const expected = list.findIndex((weight) => (left -= weight) < 0);
        expect(pick(list, drawn)).toBe(expected === -1 ? undefined : expected);
      }),
    );
  });
});
