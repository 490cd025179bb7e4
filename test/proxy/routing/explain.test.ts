import { describe, expect, test } from '@jest/globals';

import { explain } from '../../../proxy/routing/explain.ts';
import { compileRouteTable } from '../../../proxy/routing/table.ts';
import type { RequestShort, RouteShort } from './build.ts';
import { request, route } from './build.ts';

function explained(routes: readonly RouteShort[], short: RequestShort) {
  const table = compileRouteTable(routes.map((each) => ({ route: route(each), value: null })));
  return explain(table, request(short), { isSensitive: (name) => name === 'authorization' || name === 'token' });
}

describe('explain', () => {
  test('names the first thing that did not match, for each route that lost', () => {
    const { rejected, evaluated } = explained(
      [
        { name: 'winner', matches: [{ prefix: '/cart' }] },
        { name: 'host', hosts: ['other.test', '*.other.test'] },
        { name: 'path', matches: [{ exact: '/orders' }] },
        { name: 'method', matches: [{ prefix: '/cart', method: 'POST' }] },
        { name: 'header', matches: [{ prefix: '/cart', headers: { 'x-team': 'blue' } }] },
        { name: 'query', matches: [{ prefix: '/cart', query: { page: { regex: '[0-9]+' } } }] },
        { name: 'off', matches: [] },
      ],
      {
        target: '/cart?page=x',
        headers: [
          ['x-team', 'red'],
          ['x-team', 'green'],
        ],
      },
    );
    expect(Object.fromEntries(rejected.map(({ route: key, ...rest }) => [key, rest]))).toEqual({
      host: { failed: 'hostname', expected: 'other.test, *.other.test', actual: 'shop.test' },
      path: { failed: 'path', expected: 'exact /orders', actual: '/cart' },
      method: { failed: 'method', expected: 'POST', actual: 'GET' },
      header: { failed: 'header x-team', expected: 'blue', actual: 'red, green' },
      query: { failed: 'query page', expected: 'regex [0-9]+', actual: 'x' },
      off: { failed: 'path', expected: 'nothing: matches is empty', actual: '/cart' },
    });
    expect(rejected.map((each) => each.route)).toEqual(['query', 'header', 'method', 'path', 'off', 'host']);
    expect(evaluated).toEqual(['header', 'method', 'off', 'path', 'query', 'winner']);
  });

  test.each<[string, RouteShort, RouteShort, string, string]>([
    [
      'the host',
      { name: 'a', hosts: ['shop.test'] },
      { name: 'b', matches: [{ exact: '/' }] },
      'host shop.test',
      'host any',
    ],
    ['the kind of path', { name: 'a', matches: [{ exact: '/' }] }, { name: 'b' }, 'better than exact /', 'prefix /'],
    ['the method', { name: 'a', matches: [{ method: 'GET' }] }, { name: 'b' }, 'a method match', 'none'],
    ['headers', { name: 'a', matches: [{ headers: { 'x-a': '1' } }] }, { name: 'b' }, 'at least 1 header matches', '0'],
    ['the order of the file', { name: 'a' }, { name: 'b' }, 'before a in the file', 'after it'],
  ])('says when a route matched and %s decided', (_what, a, b, expected, actual) => {
    const { rejected } = explained([a, b], { headers: [['x-a', '1']] });
    expect(rejected).toEqual([{ route: 'b', failed: 'precedence', expected, actual }]);
  });

  test('tells of the alternative that came furthest', () => {
    const { rejected } = explained([{ name: 'a', matches: [{ prefix: '/x' }, { prefix: '/', method: 'PUT' }] }], {});
    expect(rejected).toEqual([{ route: 'a', failed: 'method', expected: 'PUT', actual: 'GET' }]);
  });

  test('shows neither what a secret is nor what it should be', () => {
    const { rejected } = explained(
      [
        { name: 'a', matches: [{ headers: { authorization: 'Bearer one' } }] },
        { name: 'b', matches: [{ query: { token: 'two' } }] },
        { name: 'c', matches: [{ headers: { ':path': '/three' } }] },
      ],
      { target: '/?token=four', headers: [['authorization', 'Bearer five']] },
    );
    expect(JSON.stringify(rejected)).not.toMatch(/one|two|four|five/);
    expect(rejected.map((each) => each.actual)).toEqual(['<redacted>', '<redacted>', '/']);
  });
});
