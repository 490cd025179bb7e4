import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** Policies of the measured route, those of the route it is compared with, and what clients send. */
export interface PolicyCase {
  readonly policies: Readonly<Record<string, unknown>>;
  readonly base: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
}

const ISSUER = 'https://issuer.bench.test';
const ALWAYS = 2_000_000_000;

/** A token, rules over it, a limit that is never met, and a changed header: what a guarded route usually has. */
export function guarded(): PolicyCase {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'bench', alg: 'ES256', use: 'sig' };
  return {
    policies: {
      jwtAuth: { issuer: ISSUER, audiences: ['bench'], jwks: JSON.stringify({ keys: [jwk] }) },
      authorization: {
        rules: [
          { require: 'request.headers["x-team"] == "red" && jwt.sub == "alice" && request.path.startsWith("/r/")' },
        ],
      },
      localRateLimit: [{ maxTokens: ALWAYS, tokensPerFill: ALWAYS, fillInterval: '1s' }],
      transformations: { request: { set: { 'x-user': 'jwt.sub' } } },
    },
    base: {},
    headers: { authorization: `Bearer ${token(privateKey)}`, 'x-team': 'red' },
  };
}

/** A key among 100,000 next to a key by itself. */
export function manyKeys(): PolicyCase {
  const keys = Array.from({ length: 100_000 }, (_, index) => ({ keyHash: hashOf(`key-${index}`) }));
  return {
    policies: { apiKey: { keys } },
    base: { apiKey: { keys: keys.slice(50_000, 50_001) } },
    headers: { authorization: 'Bearer key-50000' },
  };
}

/** As many rules as one policy takes, none of which fires. */
export function manyRules(): PolicyCase {
  const rules = Array.from({ length: 250 }, (_, index) => ({ deny: `request.headers["x-team"] == "team-${index}"` }));
  return { policies: { authorization: { rules } }, base: {}, headers: { 'x-team': 'red' } };
}

function hashOf(key: string): string {
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

function token(key: KeyObject): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iss: ISSUER, aud: 'bench', sub: 'alice', exp: Math.floor(Date.now() / 1000) + 24 * 3600 };
  const signed = `${part({ alg: 'ES256', typ: 'JWT', kid: 'bench' })}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}
