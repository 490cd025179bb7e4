import { generateKeyPairSync } from 'node:crypto';

import { describe, expect, test } from '@jest/globals';

import { algorithmsOf, readKeySet } from '../../../src/config/documents/key-set.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaJwk = { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' };
const ecJwk = { ...generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }), kid: 'ec' };
const edJwk = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: 'ed' };

function read(keys: unknown, strict = true) {
  return readKeySet(JSON.stringify({ keys }), { strict });
}

function problem(keys: unknown): string {
  const result = read(keys);
  return result.kind === 'problem' ? result.message : 'no problem';
}

describe('a key set', () => {
  test('gives the public part of its keys', () => {
    const result = read([{ ...rsa.privateKey.export({ format: 'jwk' }), kid: 'rsa', alg: 'RS256' }, ecJwk, edJwk]);
    if (result.kind !== 'keys') throw new Error(result.message);
    expect(result.keys.map(({ kid }) => kid)).toEqual(['rsa', 'ec', 'ed']);
    expect(JSON.stringify(result)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
    expect(result.keys.map(algorithmsOf)).toEqual([['RS256'], ['ES384'], ['EdDSA', 'Ed25519']]);
  });

  test('leaves keys for encryption out', () => {
    const result = read([{ ...rsaJwk, use: 'enc', alg: 'RSA-OAEP' }, ecJwk]);
    expect(result).toMatchObject({ kind: 'keys', keys: [{ kid: 'ec' }] });
  });

  test.each([
    ['symmetric', { kid: 'a', kty: 'oct', k: 'c2VjcmV0' }, 'its key "a" is symmetric'],
    ['of another type', { kid: 'a', kty: 'AKP' }, 'its key "a" is of the unsupported type "AKP"'],
    ['on another curve', { ...ecJwk, crv: 'secp256k1' }, 'its key "ec" uses the unsupported curve "secp256k1"'],
    ['for another algorithm', { ...rsaJwk, alg: 'HS256' }, 'its key "rsa" is for the algorithm "HS256"'],
    ['for an algorithm of other keys', { ...rsaJwk, alg: 'ES384' }, 'its key "rsa" is for the algorithm "ES384"'],
    ['broken', { ...ecJwk, x: 'AAAA' }, 'its key "ec" cannot be read'],
    ['without a modulus', { kid: 'a', kty: 'RSA', e: 'AQAB' }, 'its key "a" cannot be read'],
    ['without an id', { ...rsaJwk, kid: undefined }, 'its key 0 has no `kid`'],
    ['no object', 7, 'its key 0 is not an object'],
  ])('cannot hold a key that is %s', (_what, key, message) => {
    expect(problem([key])).toContain(message);
  });

  test('refuses RSA keys that are too short', () => {
    const short = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    expect(problem([{ ...short, kid: 'short' }])).toBe('its key "short" has 1024 bits, at least 2048 are needed');
  });

  test('of a server may hold keys that are of use to others', () => {
    expect(read([{ kid: 'a', kty: 'AKP' }, { ...ecJwk, crv: 'P-521' }, rsaJwk], false)).toMatchObject({
      kind: 'keys',
      keys: [{ kid: 'rsa' }],
    });
    expect(read([], false)).toEqual({ kind: 'keys', keys: [] });
  });

  test('has to be one', () => {
    for (const text of ['', '[]', 'null', '{}', '{"keys":{}}', '{"keys":[]}', 'x'.repeat(2_000_000)]) {
      expect(readKeySet(text, { strict: true }).kind).toBe('problem');
    }
    expect(problem(Array.from({ length: 1001 }, () => rsaJwk))).toContain('more than 1000 keys');
  });
});
