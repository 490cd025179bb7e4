import { createHash } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { KeyFinder, ownersOf, packKeys, type KnownKey } from '../../src/config/api-keys.ts';
import { loadConfig, seal, unseal } from '../../src/config/index.ts';

function known(key: string, owner: KnownKey['owner'] = {}): KnownKey {
  return { digest: createHash('sha256').update(key).digest('hex'), owner };
}

describe('packed keys', () => {
  test('are found with what is known of them, among many', () => {
    const red = { metadata: { team: 'red' } };
    const packed = packKeys([
      ...Array.from({ length: 5000 }, (_, index) => known(`key-${index}`, index % 2 === 0 ? red : {})),
      known('last', { metadata: { team: 'blue' } }),
    ]);
    const finder = new KeyFinder(packed);
    expect([finder.find('key-0'), finder.find('key-4998')]).toEqual([red, red]);
    expect([finder.find('key-1'), finder.find('key-4999')]).toEqual([{}, {}]);
    expect(finder.find('last')).toEqual({ metadata: { team: 'blue' } });
    expect([finder.find('key-5000'), finder.find('')]).toEqual([undefined, undefined]);
    expect(packed.owners).toEqual([red, {}, { metadata: { team: 'blue' } }]);
    expect(ownersOf(packed).slice(4998)).toEqual([red, {}, { metadata: { team: 'blue' } }]);
  });

  test('whose digests begin alike are told apart', () => {
    const { digest } = known('key');
    const others = Array.from({ length: 50 }, (_, index) => ({
      digest: `${digest.slice(0, 60)}${index.toString(16).padStart(4, '0')}`,
      owner: {},
    }));
    expect(new KeyFinder(packKeys(others)).find('key')).toBeUndefined();
    const owner = { metadata: { found: true } };
    expect(new KeyFinder(packKeys([...others, { digest, owner }])).find('key')).toEqual(owner);
  });

  test('that are none find nothing', () => {
    const packed = packKeys([]);
    expect(new KeyFinder(packed).find('key')).toBeUndefined();
    expect(ownersOf(packed)).toEqual([]);
  });

  test('reach a data thread in the same memory, and print nothing of themselves', async () => {
    const text =
      'gateways: {default: {port: 80}}\nroutes: [{policies: {apiKey: {keys: [{key: k1}]}}, backends: [{host: a:1}]}]';
    const { config } = await loadConfig({ kind: 'text', text, name: 't' }, { env: {} });
    const arrived = unseal(structuredClone(seal(config)));
    const keysOf = ({ binds }: typeof config) => binds[0]?.listeners[0]?.routes[0]?.policies.apiKey?.keys;
    const [before, after] = [keysOf(config), keysOf(arrived)];
    if (before === undefined || after === undefined) throw new Error('no keys');
    expect(new KeyFinder(after).find('k1')).toEqual({});
    new Uint32Array(before.table).fill(0);
    expect(new KeyFinder(after).find('k1')).toBeUndefined();
    expect(JSON.stringify(keysOf(arrived))).toBe('{"count":1,"table":{},"owners":[{}]}');
  });
});
