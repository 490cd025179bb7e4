import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/admin/protocol/lenient.ts';
import { dumpDifferences } from '../../src/admin/views/dump-difference.ts';
import { loadedResources } from '../../src/admin/views/loaded-resources.ts';
import { renderDifferences } from '../../ui/text/difference.ts';
import { goldenPath } from '../golden.ts';

const recorded = (): JsonObject => JSON.parse(readFileSync(goldenPath('cli/dump.json'), 'utf8'));

function gateway(routes: JsonObject, changes: JsonObject = {}): JsonObject {
  const listener = { key: 'gateway/default', hostname: '*', protocol: 'HTTP', routes };
  const bind = { key: 'bind/80', address: '[::]:80', listeners: { 'gateway/default': listener } };
  return { binds: [bind], routes: {}, policies: [], backends: [], config: {}, revision: '1', ...changes };
}

function route(key: string, changes: JsonObject = {}): JsonObject {
  return { [key]: { key, name: key, matches: [{ path: { pathPrefix: '/' } }], ...changes } };
}

function host(name: string, changes: JsonObject = {}): JsonObject {
  return { backend: { host: { name, namespace: 'default', target: '10.0.0.1:80', ...changes } } };
}

function endpoints(info: JsonObject, place: 'active' | 'rejected'): JsonObject {
  const entry = { '10.0.0.1:80': { endpoint: { name: '10.0.0.1:80' }, info, capacity: 1 } };
  return { active: {}, rejected: {}, [place]: entry };
}

describe('two dumps', () => {
  test('that are the same have no differences', () => {
    expect(dumpDifferences(recorded(), recorded())).toEqual([]);
  });

  test('differ in nothing when only state does', () => {
    const before = gateway(route('a'), { backends: [host('x', { endpoints: [endpoints({ health: 1 }, 'active')] })] });
    const now = [host('x', { endpoints: [endpoints({ health: 0, lastError: 'connect' }, 'rejected')] })];
    const after = gateway(route('a'), { backends: now, version: { version: '2' }, revision: '2' });
    expect(dumpDifferences(before, after)).toEqual([]);
  });

  test('differ in nothing when an endpoint of a service was evicted or its health changed', () => {
    const service = (group: JsonObject) => gateway({}, { services: [{ hostname: 's', endpoints: [group] }] });
    const before = service(endpoints({ health: 1 }, 'active'));
    expect(dumpDifferences(before, service(endpoints({ health: 0.2 }, 'rejected')))).toEqual([]);
    expect(dumpDifferences(before, service({ active: {}, rejected: {} }))).toHaveLength(1);
  });

  test('differ in nothing when a port was chosen at run time', () => {
    const on = (port: number): JsonObject => ({
      binds: [{ key: 'bind/0', address: `127.0.0.1:${port}`, listeners: {} }],
    });
    expect(dumpDifferences(on(41_001), on(41_002))).toEqual([]);
    const fixed = (port: number): JsonObject => ({ binds: [{ key: 'bind/80', address: `127.0.0.1:${port}` }] });
    expect(dumpDifferences(fixed(80), fixed(81))).toHaveLength(1);
  });

  test('differ in nothing when the order differs', () => {
    const before = gateway({ ...route('a'), ...route('b') }, { backends: [host('x'), host('y')] });
    const after = gateway({ ...route('b'), ...route('a') }, { backends: [host('y'), host('x')] });
    expect(dumpDifferences(before, after)).toEqual([]);
  });

  test('tell what was added, removed and changed, by resource and key', () => {
    const before = gateway({ ...route('a'), ...route('old') }, { backends: [host('x')] });
    const matches = [{ path: { pathPrefix: '/a' }, method: 'GET' }];
    const after = gateway(
      { ...route('a', { matches }), ...route('new') },
      { backends: [host('x', { target: 'b:1' })] },
    );
    expect(dumpDifferences(before, after).map(({ kind, resource, key, path }) => [kind, resource, key, path])).toEqual([
      ['changed', 'route', 'a', 'matches[0].path.pathPrefix'],
      ['added', 'route', 'a', 'matches[0].method'],
      ['removed', 'route', 'old', ''],
      ['added', 'route', 'new', ''],
      ['changed', 'backend', 'default/x', 'host.target'],
    ]);
  });

  test('tell of a policy by its name, whatever stands beside it', () => {
    const retry = { retry: { attempts: 2 } };
    const before = gateway(route('a', { inlinePolicies: [retry] }));
    const after = gateway(
      route('a', { inlinePolicies: [{ timeout: { requestTimeout: '5s' } }, { retry: { attempts: 3 } }] }),
    );
    expect(dumpDifferences(before, after)).toEqual([
      { kind: 'changed', resource: 'route', key: 'a', path: 'policies.retry.attempts', before: 2, after: 3 },
      { kind: 'added', resource: 'route', key: 'a', path: 'policies.timeout', after: { requestTimeout: '5s' } },
    ]);
  });

  test('list a backend that a route holds itself once, at the route', () => {
    const using = (target: string): JsonObject => {
      const name = 'gateway/default/default/a/backend0';
      const backends = [{ weight: 1, inlineBackend: { host: { name, target } } }];
      return gateway(route('a', { backends }), { backends: [host(name, { target })] });
    };
    expect(dumpDifferences(using('b:1'), using('b:2')).map(({ resource, path }) => [resource, path])).toEqual([
      ['route', 'backends[0].inlineBackend.host.target'],
    ]);
  });

  test('tell of a listener that moved to another port', () => {
    const on = (port: number): JsonObject => ({
      binds: [{ key: `bind/${port}`, address: `[::]:${port}`, listeners: { l: { key: 'l', routes: route('a') } } }],
    });
    expect(dumpDifferences(on(80), on(81)).map(({ kind, resource, key, path }) => [kind, resource, key, path])).toEqual(
      [
        ['removed', 'bind', 'bind/80', ''],
        ['added', 'bind', 'bind/81', ''],
        ['changed', 'listener', 'l', 'bind'],
      ],
    );
  });

  test('of any make never throw, and odd parts count as absent', () => {
    const odd: JsonObject = {
      binds: [null, 'x', { listeners: { a: null, b: { routes: [7, { backends: [null, 'b', {}] }] } } }],
      backends: ['invalid', null, 3, {}, { backend: null }, { backend: 'invalid' }, { backend: { host: 'x' } }],
      services: { s: { endpoints: [{ active: [null], rejected: 'no' }] } },
      policies: [null, {}, { policy: 'x', target: 'y' }],
      routes: 'none',
      config: 7,
    };
    expect(dumpDifferences(odd, odd)).toEqual([]);
    expect(() => dumpDifferences(odd, recorded())).not.toThrow();
    expect(() => dumpDifferences(recorded(), {})).not.toThrow();
  });

  test('with two resources of one name keep them apart', () => {
    const twice = {
      policies: [
        { key: 'p', a: 1 },
        { key: 'p', a: 2 },
      ],
    };
    expect(
      loadedResources(twice)
        .filter(({ kind }) => kind === 'policy')
        .map(({ key }) => key),
    ).toEqual(['p', 'p#2']);
  });

  test('hold routes of groups and of both kinds', () => {
    const keys = loadedResources(recorded()).flatMap(({ kind, key }) => (kind === 'route' ? [key] : []));
    expect(keys).toEqual(['default/web/shop/cart', 'default/web/t', 'g']);
  });
});

describe('differences as text', () => {
  const before = gateway({ ...route('a'), ...route('old') });
  const after = gateway({ ...route('a', { hostnames: ['a.example', '\u001B[31m'] }), ...route('new') });
  const differences = dumpDifferences(before, after);

  test('name the sides, the resources and the places with a sign each', () => {
    expect(renderDifferences(differences, { before: 'a.json', after: 'localhost:15000' })).toBe(
      [
        '--- a.json',
        '+++ localhost:15000',
        '~ route a',
        '    + hostnames: ["a.example","\\u001b[31m"]',
        '- route old',
        '    - name: "old"',
        '    - matches: [{"path":{"pathPrefix":"/"}}]',
        '    - listener: "gateway/default"',
        '+ route new',
        '    + name: "new"',
        '    + matches: [{"path":{"pathPrefix":"/"}}]',
        '    + listener: "gateway/default"',
        '',
      ].join('\n'),
    );
  });

  test('are nothing when there are none', () => {
    expect(renderDifferences([], { before: 'a', after: 'b' })).toBe('');
  });
});
