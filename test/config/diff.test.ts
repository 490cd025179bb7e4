import { describe, expect, test } from '@jest/globals';
import { diffConfigs } from '../../src/config/index.ts';

describe('differences between configurations', () => {
  test('equal ones have none', async () => {
    const config = { gateways: { default: { port: 1 } }, routes: [{ name: 'a' }] };
    expect(await diffConfigs(config, structuredClone(config))).toEqual([]);
    expect(await diffConfigs(null, undefined)).toEqual([]);
  });

  test('what came, went and changed is told with its path', async () => {
    const before = { gateways: { default: { port: 4000 }, old: { port: 1 } }, routes: [{ name: 'a' }] };
    const after = { gateways: { default: { port: 4001 } }, routes: [{ name: 'a' }, { name: 'b' }] };
    expect(await diffConfigs(before, after)).toEqual([
      { kind: 'changed', path: 'gateways.default.port', before: 4000, after: 4001 },
      { kind: 'removed', path: 'gateways.old', before: { port: 1 } },
      { kind: 'added', path: 'routes[1]', after: { name: 'b' } },
    ]);
  });

  test('a value that changes its kind is one difference', async () => {
    expect(await diffConfigs({ routes: [{ gateways: 'a' }] }, { routes: [{ gateways: ['a'] }] })).toEqual([
      { kind: 'changed', path: 'routes[0].gateways', before: 'a', after: ['a'] },
    ]);
  });

  test('secrets are redacted by the schema, in changes and inside parts that came or went', async () => {
    const pem = '-----BEGIN PRIVATE KEY-----\nabc\n';
    const before = { gateways: { a: { port: 1, tls: { cert: 'a.pem', key: pem } } } };
    const after = {
      gateways: {
        a: { port: 1, tls: { cert: 'a.pem', key: `${pem}x` } },
        b: { port: 2, tls: { key: { file: 'secret-path' } } },
      },
    };
    const differences = await diffConfigs(before, after);
    expect(differences).toEqual([
      { kind: 'changed', path: 'gateways.a.tls.key', before: '<redacted>', after: '<redacted>' },
      { kind: 'added', path: 'gateways.b', after: { port: 2, tls: { key: '<redacted>' } } },
    ]);
  });

  test('secrets of sections that are refused are redacted too', async () => {
    const keys = (key: string) => ({ routes: [{ policies: { apiKey: { keys: [{ key }] }, backendAuth: { key } } }] });
    const text = JSON.stringify(await diffConfigs(keys('first-secret'), keys('second-secret')));
    expect(text).not.toContain('-secret');
  });

  test('values of headers that carry credentials are redacted', async () => {
    const set = (value: string) => ({
      routes: [{ policies: { requestHeaderModifier: { set: { Authorization: value, 'x-plain': value } } } }],
    });
    expect(await diffConfigs(set('one'), set('two'))).toEqual([
      {
        kind: 'changed',
        path: 'routes[0].policies.requestHeaderModifier.set.Authorization',
        before: '<redacted>',
        after: '<redacted>',
      },
      { kind: 'changed', path: 'routes[0].policies.requestHeaderModifier.set.x-plain', before: 'one', after: 'two' },
    ]);
    expect(JSON.stringify(await diffConfigs({}, set('three')))).toContain('"Authorization":"<redacted>"');
  });

  test('keys that the schema does not know are told as they are', async () => {
    expect(await diffConfigs({}, { unknown: { x: 1 } })).toEqual([{ kind: 'added', path: 'unknown', after: { x: 1 } }]);
  });
});

test('what headers are set to or compared with is redacted by the name of the header', async () => {
  const route = (credential: string) => ({
    name: 'a',
    matches: [{ path: { exact: '/a' }, headers: [{ name: 'x-api-key', value: { exact: credential } }] }],
    policies: {
      requestHeaderModifier: { set: { Authorization: credential, 'x-team': credential, 'x-own': credential } },
    },
  });
  const config = { sensitiveHeaders: ['X-Own'] };
  const changed = await diffConfigs({ config, routes: [route('one')] }, { config, routes: [route('two')] });
  const set = 'routes[0].policies.requestHeaderModifier.set';
  expect(changed).toEqual([
    { kind: 'changed', path: 'routes[0].matches[0].headers[0].value', before: '<redacted>', after: '<redacted>' },
    { kind: 'changed', path: `${set}.Authorization`, before: '<redacted>', after: '<redacted>' },
    { kind: 'changed', path: `${set}.x-team`, before: 'one', after: 'two' },
    { kind: 'changed', path: `${set}.x-own`, before: '<redacted>', after: '<redacted>' },
  ]);
  const [added] = await diffConfigs({ config }, { config, routes: [route('two')] });
  expect(JSON.stringify(added?.after)).toContain('"x-team":"two"');
  expect(JSON.stringify(added?.after).match(/two/g)).toHaveLength(1);
});
