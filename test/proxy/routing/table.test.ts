import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { compileRouteTable } from '../../../proxy/routing/table.ts';
import { GwError } from '../../../src/shared/errors.ts';
import type { MatchShort, RequestShort, RouteShort } from './build.ts';
import { request, route } from './build.ts';
import { routingCases } from './cases.ts';
import { naiveMatch } from './naive.ts';

function tableOf(routes: readonly RouteShort[]) {
  return compileRouteTable(routes.map((short) => ({ route: route(short), value: short.name })));
}

describe.each(routingCases)('$rule', ({ routes, requests }) => {
  test.each(requests)('%j goes to %s', (short, expected) => {
    expect(tableOf(routes).match(request(short))?.value ?? null).toBe(expected);
    expect(naiveMatch(routes.map(route), request(short))?.key ?? null).toBe(expected);
  });
});

const segment = fc.constantFrom('a', 'b', 'ab', '', 'x');
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const hostname = fc.constantFrom('a.test', 'b.a.test', '*.test', '*.a.test', '*', 'test');
const value = fc.constantFrom<string | { regex: string }>('1', '2', { regex: '[12]' }, { regex: '1|12' });
const match: fc.Arbitrary<MatchShort> = fc
  .tuple(
    fc.oneof(
      path.map((exact) => ({ exact })),
      path.map((prefix) => ({ prefix })),
      fc.constantFrom('/a.*', '/.*', '/(a|ab)/x?').map((regex) => ({ regex })),
    ),
    fc.constantFrom({}, {}, { method: 'GET' }, { method: 'PUT' }),
    fc.constantFrom({}, {}).chain(() => fc.dictionary(fc.constantFrom('x-a', 'x-b'), value, { maxKeys: 2 })),
    fc.dictionary(fc.constantFrom('p', 'q'), value, { maxKeys: 2 }),
  )
  .map(([where, method, headers, query]) => ({ ...where, ...method, headers, query }));
const routes = fc
  .array(fc.record({ hosts: fc.array(hostname, { maxLength: 2 }), matches: fc.array(match, { maxLength: 3 }) }), {
    maxLength: 12,
  })
  .map((list) => list.map((each, index): RouteShort => ({ name: `r${index}`, ...each })));
const requests: fc.Arbitrary<RequestShort> = fc.record({
  method: fc.constantFrom('GET', 'PUT'),
  host: fc.constantFrom('a.test', 'b.a.test', 'c.b.a.test', 'test', 'other', 'A.test:80'),
  target: fc.tuple(path, fc.constantFrom('', '?p=1', '?p=2&q=1', '?p=1&p=3&q=12')).map(([left, right]) => left + right),
  headers: fc.array(fc.tuple(fc.constantFrom('x-a', 'x-b'), fc.constantFrom('1', '2', '12')), { maxLength: 3 }),
});

describe('a compiled table', () => {
  test('finds what a sorted linear scan finds', () => {
    fc.assert(
      fc.property(routes, fc.array(requests, { minLength: 1, maxLength: 6 }), (list, probes) => {
        const table = tableOf(list);
        const plain = list.map(route);
        for (const short of probes) {
          const found = table.match(request(short));
          const expected = naiveMatch(plain, request(short));
          expect(found === null ? null : { key: found.value, match: found.matchIndex }).toEqual(expected);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('finds what a scan finds among many alternatives of one path that differ in headers', () => {
    const headerMatch = fc.record({
      prefix: fc.constantFrom('/', '/a'),
      headers: fc.dictionary(fc.constantFrom('x-a', 'X-A', 'x-b'), value, { maxKeys: 2 }),
    });
    fc.assert(
      fc.property(fc.array(headerMatch, { minLength: 15, maxLength: 40 }), requests, (matches, short) => {
        const list = matches.map((each, index): RouteShort => ({ name: `r${index}`, matches: [each] }));
        expect(tableOf(list).match(request(short))?.value).toBe(naiveMatch(list.map(route), request(short))?.key);
      }),
      { numRuns: 500 },
    );
  });

  test('survives any authority and target', () => {
    const table = tableOf([
      { name: 'a', hosts: ['*.test'], matches: [{ prefix: '/a', query: { p: '1' } }] },
      { name: 'b' },
    ]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (host, target) => {
        expect(table.match(request({ host, target }))?.value).toBeDefined();
      }),
    );
  });

  test('takes no longer for a hostile path than the configuration is deep', () => {
    const table = tableOf([{ name: 'deep', matches: [{ prefix: '/a/a/a' }] }, { name: 'root' }]);
    expect(table.match(request({ target: '/a'.repeat(50_000) }))?.value).toBe('deep');
    expect(table.match(request({ target: '/'.repeat(100_000), host: 'a.'.repeat(50_000) }))?.value).toBe('root');
  });

  test('runs regular expressions in linear time', () => {
    const table = tableOf([{ name: 'evil', matches: [{ regex: '/(a+)+b' }] }]);
    expect(table.match(request({ target: `/${'a'.repeat(20_000)}` }))).toBeNull();
  });

  test('refuses a regular expression that RE2 does not know, naming the route', () => {
    const look = { name: 'look', matches: [{ regex: '/(?=a)' }] };
    expect(() => tableOf([look])).toThrow(GwError);
    expect(() => tableOf([look])).toThrow(/route look: invalid regular expression/);
  });

  test('tells the path match that held and gives the same object every time', () => {
    const table = tableOf([{ name: 'a', matches: [{ exact: '/x' }, { prefix: '/y' }] }]);
    const first = table.match(request({ target: '/y/1' }));
    expect(first?.path).toEqual({ kind: 'pathPrefix', value: '/y' });
    expect(first?.hostname).toBeNull();
    expect(table.match(request({ target: '/y/2' }))).toBe(first);
  });

  test('never matches a prefix that does not begin with a slash', () => {
    expect(tableOf([{ name: 'odd', matches: [{ prefix: 'odd' }] }]).match(request({ target: '/odd' }))).toBeNull();
  });
});
