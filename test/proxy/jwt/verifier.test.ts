import { createHmac, createPublicKey } from 'node:crypto';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { TokenVerifier, type Verification } from '../../../proxy/jwt/verifier.ts';
import { keyOf } from '../../../proxy/resources/content.ts';
import { ThreadResources } from '../../../proxy/resources/thread-resources.ts';
import { asJsonWebKey } from '../../../src/config/documents/key-set.ts';
import type { JwtProvider, RemoteKeySet } from '../../../src/config/ir/index.ts';
import { forged, ISSUER, provider, seconds, type Signer, signer, token } from './tokens.ts';

let es: Signer;
let rs: Signer;

beforeAll(async () => {
  es = await signer('es');
  rs = await signer('rs', 'RS256');
});

function verifier(changes: Partial<JwtProvider> = {}, now?: () => number): TokenVerifier {
  return new TokenVerifier([provider([es, rs], changes)], new ThreadResources(), now);
}

/** What the client is told. */
function told(verified: Verification): string {
  return verified.kind === 'valid' ? `valid for ${String(verified.jwt.claims['sub'])}` : verified.detail;
}

const malformed = 'the token is invalid or malformed: ';

describe('a verifier', () => {
  test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA', 'Ed25519'])(
    'believes tokens signed with %s, and no other signature',
    async (alg) => {
      const own = await signer('own', alg);
      const other = { ...(await signer('own', alg)), jwk: own.jwk };
      const trusting = new TokenVerifier([provider([own])], new ThreadResources());
      expect(told(trusting.verify(await token(own)))).toBe('valid for alice');
      expect(told(trusting.verify(await token(other)))).toBe(`${malformed}InvalidSignature`);
      const [head = '', payload = '', signature = ''] = (await token(own)).split('.');
      const cut = `${head}.${payload}.${signature.slice(0, -8)}`;
      expect(told(trusting.verify(cut))).toBe(`${malformed}InvalidSignature`);
      expect(told(trusting.verify(`${head}.${payload}.`))).toBe(`${malformed}InvalidSignature`);
    },
  );

  test('gives the claims and keeps the token secret', async () => {
    const text = await token(es, { claims: { groups: ['a', 'b'] } });
    const verified = verifier().verify(text);
    if (verified.kind !== 'valid') throw new Error(verified.detail);
    expect(verified.jwt.claims).toMatchObject({ iss: ISSUER, sub: 'alice', groups: ['a', 'b'] });
    expect(verified.jwt.rawToken.reveal()).toBe(text);
    expect(JSON.stringify(verified.jwt)).not.toContain(text);
  });

  test.each([
    ['nothing', '', 'the token header is malformed: not a JSON Web Token'],
    ['words', 'let me in', 'the token header is malformed: not a JSON Web Token'],
    ['two parts', 'a.b', 'the token header is malformed: not a JSON Web Token'],
    ['five parts', 'a.b.c.d.e', 'the token header is malformed: not a JSON Web Token'],
    ['base64 with padding', 'e30=.e30=.', 'the token header is malformed: not a JSON Web Token'],
    ['a header that is no JSON', forged('{', {}), 'the token header is malformed: not a JSON object'],
    ['a header that is a list', forged([], {}), 'the token header is malformed: not a JSON object'],
    ['a header without algorithm', forged({ kid: 'es' }, {}), 'the token header is malformed: no algorithm'],
    ['a header without kid', forged({ alg: 'ES256' }, {}), 'the token header does not specify a `kid`'],
    [
      'a kid that is a number',
      forged({ alg: 'ES256', kid: 1 }, {}),
      'the token header is malformed: `kid` is not a text',
    ],
    [
      'a critical extension',
      forged({ alg: 'ES256', kid: 'es', crit: ['b64'] }, {}),
      'the token header is malformed: unknown critical extension',
    ],
    ['an unknown key', forged({ alg: 'ES256', kid: 'other"\n' }, {}), 'token uses the unknown key "other\\"\\n"'],
    [
      'a name of Object.prototype',
      forged({ alg: 'ES256', kid: 'constructor' }, {}),
      'token uses the unknown key "constructor"',
    ],
    [
      'a kid without end',
      forged({ alg: 'ES256', kid: 'k'.repeat(5000) }, {}),
      `token uses the unknown key "${'k'.repeat(100)}"`,
    ],
    [
      'the algorithm none',
      forged({ alg: 'none', kid: 'es' }, { iss: ISSUER, exp: 9e9 }),
      `${malformed}InvalidAlgorithm`,
    ],
    [
      'the algorithm None',
      forged({ alg: 'None', kid: 'es' }, { iss: ISSUER, exp: 9e9 }),
      `${malformed}InvalidAlgorithm`,
    ],
    ['100 kB', `${'a'.repeat(50_000)}.${'b'.repeat(50_000)}.c`, `${malformed}TokenTooLarge`],
  ])('refuses %s', (_what, text, detail) => {
    expect(told(verifier().verify(text))).toBe(detail);
  });

  test('refuses a token that was signed with the public key as an HMAC secret', async () => {
    const pem = createPublicKey({ key: asJsonWebKey(rs.jwk), format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const unsigned = forged({ alg: 'HS256', kid: 'rs' }, { iss: ISSUER, sub: 'mallory', exp: seconds(60) });
    const signed = unsigned.slice(0, -1);
    const signature = createHmac('sha256', pem).update(signed).digest('base64url');
    expect(told(verifier().verify(`${signed}.${signature}`))).toBe(`${malformed}InvalidAlgorithm`);
  });

  test('refuses an algorithm that fits the key but is not the one that the key is for', async () => {
    const only: Signer = { ...rs, jwk: { ...rs.jwk, alg: 'RS512' } };
    const strict = new TokenVerifier([provider([only])], new ThreadResources());
    expect(told(strict.verify(await token(rs)))).toBe(`${malformed}InvalidAlgorithm`);
  });

  test('refuses a payload that is no object, though signed', async () => {
    const { CompactSign } = await import('jose');
    for (const payload of ['[]', '"alice"', 'null', 'x', '']) {
      const text = await new CompactSign(Buffer.from(payload))
        .setProtectedHeader({ alg: 'ES256', kid: 'es' })
        .sign(es.privateKey);
      // An empty payload leaves an empty part, which no token has.
      expect(told(verifier().verify(text))).toMatch(/InvalidToken|not a JSON Web Token/);
    }
  });

  test.each([
    ['another issuer', { iss: 'https://other.test' }, 'InvalidIssuer'],
    ['a trailing slash more', { iss: `${ISSUER}/` }, 'InvalidIssuer'],
    ['another case', { iss: ISSUER.toUpperCase() }, 'InvalidIssuer'],
    ['a list of issuers', { iss: [ISSUER] }, 'InvalidIssuer'],
    ['no issuer', { iss: undefined }, 'MissingRequiredClaim: iss'],
    ['no expiry', { exp: undefined }, 'MissingRequiredClaim: exp'],
    ['an expiry that is a text', { exp: '9999999999' }, 'InvalidClaimFormat: exp'],
    ['an expiry 61 seconds ago', { exp: seconds(-61) }, 'ExpiredSignature'],
    ['a beginning in 65 seconds', { nbf: seconds(65) }, 'ImmatureSignature'],
    ['a beginning that is a text', { nbf: 'now' }, 'InvalidClaimFormat: nbf'],
  ])('refuses %s', async (_what, claims, name) => {
    const text = await token(es, { claims });
    expect(told(verifier().verify(text))).toBe(malformed + name);
  });

  test('allows clocks to differ by a minute', async () => {
    expect(told(verifier().verify(await token(es, { claims: { exp: seconds(-58) } })))).toBe('valid for alice');
    expect(told(verifier().verify(await token(es, { claims: { nbf: seconds(59) } })))).toBe('valid for alice');
  });

  test('asks for the audience when it is told whom tokens are for', async () => {
    const own = verifier({ audiences: ['shop', 'store'] });
    expect(told(own.verify(await token(es, { claims: { aud: 'shop' } })))).toBe('valid for alice');
    expect(told(own.verify(await token(es, { claims: { aud: ['bank', 'store'] } })))).toBe('valid for alice');
    expect(told(own.verify(await token(es, { claims: { aud: 'bank' } })))).toBe(`${malformed}InvalidAudience`);
    expect(told(own.verify(await token(es, { claims: { aud: [] } })))).toBe(`${malformed}InvalidAudience`);
    expect(told(own.verify(await token(es)))).toBe(`${malformed}MissingRequiredClaim: aud`);
  });

  test('asks for the claims that it is told to, instead of the expiry', async () => {
    const own = verifier({ requiredClaims: ['nbf', 'sub'] });
    expect(told(own.verify(await token(es)))).toBe(`${malformed}MissingRequiredClaim: nbf`);
    const eternal = await token(es, { claims: { nbf: 1, exp: undefined } });
    expect(told(own.verify(eternal))).toBe('valid for alice');
  });

  test('takes the key of the issuer that the token names when two have the same id', async () => {
    const theirs = { ...(await signer('es')), kid: 'es' };
    const other = provider([theirs], { issuer: 'https://other.test' });
    const both = new TokenVerifier([other, provider([es])], new ThreadResources());
    expect(told(both.verify(await token(es)))).toBe('valid for alice');
    expect(told(both.verify(await token(theirs)))).toBe(`${malformed}InvalidSignature`);
  });

  test('takes the key of the right algorithm when one issuer gives two the same id', async () => {
    const twin = { ...rs, kid: 'es', jwk: { ...rs.jwk, kid: 'es' } };
    const both = new TokenVerifier([provider([twin, es])], new ThreadResources());
    expect(told(both.verify(await token(es)))).toBe('valid for alice');
    expect(told(both.verify(await token(twin)))).toBe('valid for alice');
  });
});

describe('a token that was verified', () => {
  test('is remembered until it expires', async () => {
    let now = Date.now();
    const own = verifier({}, () => now);
    const text = await token(es);
    const first = own.verify(text);
    const second = own.verify(text);
    if (first.kind !== 'valid' || second.kind !== 'valid') throw new Error('not valid');
    expect(second.jwt).toBe(first.jwt);
    now += 361_000;
    expect(told(own.verify(text))).toBe(`${malformed}ExpiredSignature`);
  });

  test('is forgotten when its key set changes', async () => {
    const remote: RemoteKeySet = { kind: 'remote', content: 'keySet', url: 'https://issuer.test/keys' };
    const resources = new ThreadResources();
    const publish = (version: number, ...signers: Signer[]): void =>
      resources.update([
        {
          key: keyOf(remote),
          document: remote,
          version,
          text: JSON.stringify({ keys: signers.map(({ jwk }) => jwk) }),
        },
      ]);
    const own = new TokenVerifier([provider([], { keys: remote })], resources);
    const text = await token(es);
    expect(told(own.verify(text))).toBe('token uses the unknown key "es"');
    publish(1, es);
    expect(told(own.verify(text))).toBe('valid for alice');
    publish(2, rs);
    expect(told(own.verify(text))).toBe('token uses the unknown key "es"');
  });

  test('is one of a bounded number', async () => {
    const { VerifiedTokens } = await import('../../../proxy/jwt/verified-tokens.ts');
    const memory = new VerifiedTokens();
    const verified = verifier().verify(await token(es));
    if (verified.kind !== 'valid') throw new Error('not valid');
    for (let n = 0; n < 20_000; n++) memory.add(`token ${n}`, verified.jwt, 1000);
    const known = Array.from({ length: 20_000 }, (_, n) => memory.get(`token ${n}`, 0)).filter((jwt) => jwt !== null);
    expect(known.length).toBeGreaterThan(4000);
    expect(known.length).toBeLessThan(8193);
    expect(memory.get('token 19999', 1000)).not.toBeNull();
    expect(memory.get('token 19999', 1001)).toBeNull();
  });
});

describe('a token with an unknown key', () => {
  test('makes the key set of the issuer that it names be fetched, and no other', async () => {
    const asked: string[] = [];
    const resources = new ThreadResources(async (key) => void asked.push(key));
    const remote = (name: string): RemoteKeySet => ({
      kind: 'remote',
      content: 'keySet',
      url: `https://${name}.test/`,
    });
    const own = new TokenVerifier(
      [
        provider([], { keys: remote('issuer') }),
        provider([], { keys: remote('other'), issuer: 'https://other.test' }),
        provider([es], { issuer: 'https://inline.test' }),
      ],
      resources,
    );
    const refetch = (iss: unknown): (() => Promise<void>) | null => {
      const verified = own.verify(forged({ alg: 'ES256', kid: 'new' }, { iss }));
      return verified.kind === 'unknownKey' ? verified.refetch : null;
    };
    expect(refetch('https://inline.test')).toBeNull();
    expect(refetch('https://nobody.test')).toBeNull();
    expect(refetch(undefined)).toBeNull();
    await refetch(ISSUER)?.();
    expect(asked).toEqual(['keySet https://issuer.test/']);
  });
});
