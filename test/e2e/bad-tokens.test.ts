/** Tokens that are wrong, at every place where one may stand. */
import { createHmac, createPrivateKey, sign } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CompactEncrypt, CompactSign, exportPKCS8, exportSPKI, generateKeyPair, importJWK } from 'jose';

import { forged, ISSUER, seconds, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { RawClient } from './clients.ts';
import { ask, type Answer, Cleanup, echo, type RunningGateway, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

let one: Signer;
let rsa: Signer;
let other: Signer;
let gateway: RunningGateway;
let reached = 0;

function keySet(...signers: Signer[]): string {
  return JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

beforeAll(async () => {
  one = await signer('one');
  rsa = await signer('rsa', 'RS256');
  other = await signer('other');
  const behind = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      echo(request, response);
    }),
  );
  const backends = `backends: [{host: "127.0.0.1:${behind.port}"}]`;
  const provider = `issuer: ${ISSUER}, jwks: ${quoted(keySet(one, { ...rsa, jwk: { ...rsa.jwk, alg: 'RS256' } }))}`;
  const route = (path: string, more: string, policies = ''): string =>
    `- {matches: [{path: {pathPrefix: /${path}}}], policies: {jwtAuth: {${provider}${more}}${policies}}, ${backends}}\n`;
  gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
${route('header', '')}${route('audience', ', audiences: [shop, "https://shop.test"]')}\
${route('raw', ', location: {header: {name: X-Token}}')}${route('query', ', location: {queryParameter: {name: token}}')}\
${route('cookie', ', location: {cookie: {name: token}}')}\
${route('expression', `, location: {expression: 'request.headers["x-wrapped"].split("|")[1]'}`)}\
${route('optional', ', mode: optional')}${route('permissive', ', mode: permissive')}\
${route('rule', '', `, authorization: {rules: ['jwt.sub == "alice"']}`)}\
${route('inherited', '', `, authorization: {rules: [{deny: 'has(jwt.constructor) || has(jwt.__proto__) || "toString" in jwt'}]}`)}`),
  );
});

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });
const get = (path: string, headers: Record<string, string | string[]> = {}): Promise<Answer> =>
  ask(gateway.port(80), path, { headers });

/** What an answer says, once nothing of its request has reached the upstream. */
async function refusal(path: string, headers: Record<string, string | string[]>): Promise<string> {
  const before = reached;
  const answer = await get(path, headers);
  expect([answer.status, answer.headers['x-gw-reason']]).toEqual([401, 'JwtAuth']);
  expect(answer.headers['content-type']).toMatch(/^text\/plain/);
  expect(reached).toBe(before);
  return answer.body.replace('authentication failure: ', '');
}

async function passed(path: string, headers: Record<string, string | string[]> = {}) {
  const answer = await get(path, headers);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body) as { url: string; headers: Record<string, string> }; // what `echo` answers
}

const bad = (name: string): string => `the token is invalid or malformed: ${name}`;
const GOOD = (): Record<string, unknown> => ({ iss: ISSUER, sub: 'mallory', exp: seconds(300) });

/** A payload as it stands, with a right signature. */
function signed(payload: string, by: Signer = one): Promise<string> {
  return new CompactSign(Buffer.from(payload)).setProtectedHeader({ alg: by.alg, kid: by.kid }).sign(by.privateKey);
}

const changed = async (change: (parts: [string, string, string]) => string[]): Promise<string> => {
  const [head = '', payload = '', signature = ''] = (await token(one)).split('.');
  return change([head, payload, signature]).join('.');
};

describe('a forged token', () => {
  const invalid = bad('InvalidSignature');
  const otherPayload = (): string => Buffer.from(JSON.stringify(GOOD())).toString('base64url');
  const cases: readonly (readonly [string, () => string | Promise<string>, string])[] = [
    ['with another payload', () => changed(([head, , signature]) => [head, otherPayload(), signature]), invalid],
    [
      'with a bit of its signature turned',
      () => changed(([h, p, s]) => [h, p, (s[0] === 'A' ? 'B' : 'A') + s.slice(1)]),
      invalid,
    ],
    ['with half its signature', () => changed(([h, p, s]) => [h, p, s.slice(0, 43)]), invalid],
    ['with its signature twice', () => changed(([h, p, s]) => [h, p, s + s]), invalid],
    ['without its signature', () => changed(([h, p]) => [h, p, '']), invalid],
    ['with a signature of zeros', () => changed(([h, p]) => [h, p, Buffer.alloc(64).toString('base64url')]), invalid],
    [
      'with a signature in another form',
      async () => {
        const head = `${Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'one' })).toString('base64url')}.${otherPayload()}`;
        const key = createPrivateKey(await exportPKCS8(one.privateKey));
        return `${head}.${sign('sha256', Buffer.from(head), { key, dsaEncoding: 'der' }).toString('base64url')}`;
      },
      invalid,
    ],
    ['of a stranger who claims the key', () => token({ ...other, kid: 'one' }), invalid],
    [
      'that brings its own key along',
      async () =>
        token(
          { ...other, kid: 'one' },
          { header: { jwk: other.jwk, jku: 'http://127.0.0.1:1/', x5u: 'http://127.0.0.1:1/' } },
        ),
      invalid,
    ],
    ...['none', 'None', 'NONE', 'nOnE', ''].map(
      (alg) =>
        [
          `of the algorithm ${JSON.stringify(alg)}`,
          () => forged({ alg, kid: 'one' }, GOOD()),
          bad('InvalidAlgorithm'),
        ] as const,
    ),
    ...['ES384', 'ES512', 'RS256', 'PS256', 'EdDSA', 'ES256K', 'HS256', 'es256', 'toString', '__proto__'].map(
      (alg) =>
        [
          `of the algorithm ${alg} for a key of ES256`,
          () => forged({ alg, kid: 'one' }, GOOD(), 'A'.repeat(86)),
          bad('InvalidAlgorithm'),
        ] as const,
    ),
    [
      'of another algorithm of the same type of key',
      () => forged({ alg: 'PS256', kid: 'rsa' }, GOOD(), 'AA'),
      bad('InvalidAlgorithm'),
    ],
    [
      'whose algorithm is a number',
      () => forged({ alg: 256, kid: 'one' }, GOOD()),
      'the token header is malformed: no algorithm',
    ],
    [
      'whose algorithm is a list',
      () => forged({ alg: ['ES256'], kid: 'one' }, GOOD()),
      'the token header is malformed: no algorithm',
    ],
  ];

  test.each(cases)('%s is refused', async (_what, make, detail) => {
    expect(await refusal('/header', bearer(await make()))).toBe(detail);
  });

  test('that takes the public key for a secret is refused, in every spelling of the key', async () => {
    for (const { jwk, kid, alg } of [one, rsa]) {
      const pem = await exportSPKI(await publicKeyOf({ jwk, alg }));
      const spellings = [
        pem,
        `${pem}\n`,
        pem.trim(),
        pem.replaceAll('\n', '\r\n'),
        JSON.stringify(jwk),
        jwk.n ?? jwk.x ?? '',
      ];
      for (const secret of spellings) {
        for (const hmac of ['HS256', 'HS384', 'HS512']) {
          const unsigned = forged({ alg: hmac, kid }, GOOD()).slice(0, -1);
          const mac = createHmac(`sha${hmac.slice(2)}`, secret)
            .update(unsigned)
            .digest('base64url');
          expect(await refusal('/header', bearer(`${unsigned}.${mac}`))).toBe(bad('InvalidAlgorithm'));
        }
      }
    }
  });
});

async function publicKeyOf({ jwk, alg }: Pick<Signer, 'jwk' | 'alg'>): Promise<CryptoKey> {
  const key = await importJWK(JSON.parse(JSON.stringify(jwk)), alg, { extractable: true });
  if (key instanceof Uint8Array) throw new Error('a secret');
  return key;
}

describe('the key that a token names', () => {
  const noText = 'the token header is malformed: `kid` is not a text';
  test.each([
    ['nothing', undefined, 'the token header does not specify a `kid`'],
    ['null', null, noText],
    ['a number', 1, noText],
    ['a list', ['one'], noText],
    ['nothing in quotes', '', 'token uses the unknown key ""'],
    ['another case', 'ONE', 'token uses the unknown key "ONE"'],
    ['a name of every object', '__proto__', 'token uses the unknown key "__proto__"'],
    ['another name of every object', 'constructor', 'token uses the unknown key "constructor"'],
    ['a file', '../../../../dev/null', 'token uses the unknown key "../../../../dev/null"'],
    ['a statement', "one' OR '1'='1", `token uses the unknown key "one' OR '1'='1"`],
    ['lines', 'a\r\nx-evil: 1', 'token uses the unknown key "a\\r\\nx-evil: 1"'],
    ['a zero byte', 'one\0', 'token uses the unknown key "one\\u0000"'],
    ['10 kB', 'k'.repeat(10_000), `token uses the unknown key "${'k'.repeat(100)}"`],
  ])('is %s', async (_what, kid, detail) => {
    const text = forged({ alg: 'ES256', ...(kid === undefined ? {} : { kid }) }, GOOD(), 'AA');
    expect(await refusal('/header', bearer(text))).toBe(detail);
  });
});

describe('a text that is no token of this kind', () => {
  const noToken = 'the token header is malformed: not a JSON Web Token';
  const noObject = 'the token header is malformed: not a JSON object';
  const critical = 'the token header is malformed: unknown critical extension';
  const cases: readonly (readonly [string, () => string | Promise<string>, string])[] = [
    ['one dot', () => '.', noToken],
    ['two dots', () => '..', noToken],
    ['two parts', () => 'YQ.Yg', noToken],
    ['four parts', async () => `${await token(one)}.YQ`, noToken],
    ['a token and another', async () => `${await token(one)}, Bearer ${await token(one)}`, noToken],
    ['a token behind two spaces', async () => ` ${await token(one)}`, noToken],
    ['a token in quotes', async () => `"${await token(one)}"`, noToken],
    ['a token with padding', () => changed(([h, p, s]) => [h, p, `${s}==`]), noToken],
    ['a token in the other alphabet', () => changed(([h, p]) => [h, p, '+/+/']), noToken],
    [
      'an encrypted token',
      async () => {
        const { publicKey } = await generateKeyPair('RSA-OAEP-256');
        return new CompactEncrypt(Buffer.from(JSON.stringify(GOOD())))
          .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: 'rsa' })
          .encrypt(publicKey);
      },
      noToken,
    ],
    [
      'a token in JSON',
      async () => {
        const [protectedHeader, payload, signature] = (await token(one)).split('.');
        return JSON.stringify({ payload, protected: protectedHeader, signature });
      },
      noToken,
    ],
    ['a header that is cut', () => forged('{"alg":"ES256","kid":"one"', GOOD(), 'AA'), noObject],
    ['a header that is a list', () => forged([{ alg: 'ES256', kid: 'one' }], GOOD(), 'AA'), noObject],
    ['a header that is null', () => forged(null, GOOD(), 'AA'), noObject],
    [
      'a header of 4000 levels',
      () => forged(`{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`, GOOD(), 'AA'),
      'the token header is malformed: no algorithm',
    ],
    [
      'critical extensions',
      () =>
        token(one, { header: { 'urn:x': 1, crit: ['urn:x'] } }).catch(() =>
          forged({ alg: 'ES256', kid: 'one', crit: ['urn:x'], 'urn:x': 1 }, GOOD(), 'AA'),
        ),
      critical,
    ],
    [
      'no critical extension, in an empty list',
      () => forged({ alg: 'ES256', kid: 'one', crit: [] }, GOOD(), 'AA'),
      critical,
    ],
    [
      'a payload that is not encoded',
      () => forged({ alg: 'ES256', kid: 'one', b64: false, crit: ['b64'] }, GOOD(), 'AA'),
      critical,
    ],
    ['a signed text', () => signed('mallory'), bad('InvalidToken')],
    ['a signed list', () => signed('[]'), bad('InvalidToken')],
    ['a signed null', () => signed('null'), bad('InvalidToken')],
    ['16 kB and one character', () => 'a'.repeat(16 * 1024 + 1), bad('TokenTooLarge')],
  ];

  test.each(cases)('%s is refused', async (_what, make, detail) => {
    expect(await refusal('/header', bearer(await make()))).toBe(detail);
  });

  test('of 100 kB does not fit into the head of a request, wherever it stands', async () => {
    const before = reached;
    const long = 'a'.repeat(100_000);
    expect((await get('/header', bearer(long))).status).toBe(431);
    expect((await get('/cookie', { cookie: `token=${long}` })).status).toBe(431);
    expect([414, 431]).toContain((await get(`/query?token=${long}`)).status);
    expect(reached).toBe(before);
    await passed('/header', bearer(await token(one)));
  });
});

describe('the claims of a signed token', () => {
  const wrong: readonly (readonly [string, string, Record<string, unknown>, string])[] = [
    ['an issuer with a slash more', '/header', { iss: `${ISSUER}/` }, 'InvalidIssuer'],
    ['an issuer with a slash less in its scheme', '/header', { iss: ISSUER.replace('//', '/') }, 'InvalidIssuer'],
    ['an issuer in capitals', '/header', { iss: ISSUER.toUpperCase() }, 'InvalidIssuer'],
    ['an issuer with a port', '/header', { iss: `${ISSUER}:443` }, 'InvalidIssuer'],
    ['an issuer with a space', '/header', { iss: `${ISSUER} ` }, 'InvalidIssuer'],
    ['an issuer with a zero byte', '/header', { iss: `${ISSUER}\0` }, 'InvalidIssuer'],
    ['a list of issuers', '/header', { iss: [ISSUER] }, 'InvalidIssuer'],
    ['no issuer', '/header', { iss: undefined }, 'MissingRequiredClaim: iss'],
    ['an issuer that is null', '/header', { iss: null }, 'InvalidIssuer'],
    ['no audience', '/audience', {}, 'MissingRequiredClaim: aud'],
    ['another audience', '/audience', { aud: 'bank' }, 'InvalidAudience'],
    ['no audience in a list', '/audience', { aud: [] }, 'InvalidAudience'],
    ['a beginning of the audience', '/audience', { aud: 'sho' }, 'InvalidAudience'],
    ['the audience in capitals', '/audience', { aud: 'SHOP' }, 'InvalidAudience'],
    ['an audience with a slash more', '/audience', { aud: 'https://shop.test/' }, 'InvalidAudience'],
    ['audiences in one text', '/audience', { aud: 'bank shop' }, 'InvalidAudience'],
    ['an audience two lists deep', '/audience', { aud: [['shop']] }, 'InvalidAudience'],
    ['an audience as a key', '/audience', { aud: { shop: true } }, 'InvalidAudience'],
    ['no end', '/header', { exp: undefined }, 'MissingRequiredClaim: exp'],
    ['an end that is null', '/header', { exp: null }, 'InvalidClaimFormat: exp'],
    ['an end as a text', '/header', { exp: String(seconds(300)) }, 'InvalidClaimFormat: exp'],
    ['an end that is true', '/header', { exp: true }, 'InvalidClaimFormat: exp'],
    ['an end before time began', '/header', { exp: -1 }, 'ExpiredSignature'],
    ['an end at zero', '/header', { exp: 0 }, 'ExpiredSignature'],
    ['an end beyond the leeway', '/header', { exp: seconds(-61) }, 'ExpiredSignature'],
    ['an end in a fraction of a second', '/header', { exp: seconds(-61) + 0.5 }, 'ExpiredSignature'],
    ['a beginning beyond the leeway', '/header', { nbf: seconds(65) }, 'ImmatureSignature'],
    ['a beginning as a text', '/header', { nbf: '0' }, 'InvalidClaimFormat: nbf'],
  ];
  const right: readonly (readonly [string, string, Record<string, unknown>])[] = [
    ['an audience that nobody asks for', '/header', { aud: 'anybody' }],
    ['the right audience', '/audience', { aud: 'shop' }],
    ['the right audience among others', '/audience', { aud: ['bank', 7, 'shop'] }],
    ['an end within the leeway', '/header', { exp: seconds(-50) }],
    ['a beginning within the leeway', '/header', { nbf: seconds(50) }],
    ['an issue in the future', '/header', { iat: seconds(3600) }],
  ];

  test.each(wrong)('with %s, at %s, are refused', async (_what, path, claims, name) => {
    expect(await refusal(path, bearer(await token(one, { claims })))).toBe(bad(name));
  });

  test.each(right)('with %s, at %s, pass', async (_what, path, claims) => {
    expect((await passed(path, bearer(await token(one, { claims })))).url).toBe(path);
  });

  test('cannot end after all numbers', async () => {
    const text = await signed(JSON.stringify(GOOD()).replace(/"exp":\d+/, '"exp":1e999'));
    expect(await refusal('/header', bearer(text))).toBe(bad('InvalidClaimFormat: exp'));
  });

  test('are of the last of two equal names, for the check and for the rules', async () => {
    const claims = JSON.stringify(GOOD()).slice(0, -1);
    expect((await get('/rule', bearer(await signed(`${claims},"sub":"alice"}`)))).status).toBe(200);
    expect((await get('/rule', bearer(await signed(`${claims}}`)))).status).toBe(403);
    expect(await refusal('/rule', bearer(await signed(`${claims},"iss":"https://evil.test"}`)))).toBe(
      bad('InvalidIssuer'),
    );
  });

  test('are its own, and not those that every object has', async () => {
    await passed('/inherited', bearer(await token(one)));
    const claims = JSON.stringify({ exp: seconds(300) }).slice(0, -1);
    const text = await signed(`${claims},"__proto__":{"iss":"${ISSUER}"}}`);
    expect(await refusal('/header', bearer(text))).toBe(bad('MissingRequiredClaim: iss'));
  });

  test('may be nested as deep as a token has room, for a rule and for a trace that is watched', async () => {
    const levels = 5500;
    const text = await signed(
      `${JSON.stringify({ ...GOOD(), sub: 'alice' }).slice(0, -1)},"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`,
    );
    await passed('/rule', bearer(text));
    const watching = await fetch(`${gateway.admin}/debug/trace`, { headers: { accept: 'text/event-stream' } });
    await passed('/rule', bearer(text));
    expect(await watching.text()).toContain('"kind":"jwt"');
  });
});

describe('a token at its place', () => {
  const places: readonly (readonly [string, (text: string) => { path: string; headers: Record<string, string> }])[] = [
    ['header', (text) => ({ path: '/header', headers: bearer(text) })],
    ['header in another case', (text) => ({ path: '/header', headers: { authorization: `bEARER ${text}` } })],
    ['header of its own', (text) => ({ path: '/raw', headers: { 'x-token': text } })],
    ['query', (text) => ({ path: `/query?a=1&token=${text}&b=2`, headers: {} })],
    ['cookie', (text) => ({ path: '/cookie', headers: { cookie: `a=1; token=${text}; b=2` } })],
    ['expression', (text) => ({ path: '/expression', headers: { 'x-wrapped': `v1|${text}` } })],
  ];

  test.each(places)('%s passes when it is right, and goes no further but behind an expression', async (name, place) => {
    const text = await token(one);
    const { path, headers } = place(text);
    const seen = await passed(path, headers);
    expect(JSON.stringify(seen).includes(text)).toBe(name === 'expression');
    expect(seen.url).toBe(name === 'query' ? '/query?a=1&b=2' : path);
    expect(seen.headers['cookie']).toBe(name === 'cookie' ? 'a=1; b=2' : undefined);
  });

  test.each(places)('%s is refused when it is wrong, empty, or not there', async (_name, place) => {
    const wrong = place(await changed(([h, p]) => [h, p, 'AAAA']));
    expect(await refusal(wrong.path, wrong.headers)).toBe(bad('InvalidSignature'));
    const garbage = place('%00%ff');
    expect(await refusal(garbage.path, garbage.headers)).toBe('the token header is malformed: not a JSON Web Token');
    const empty = place('');
    expect(await refusal(empty.path, empty.headers)).toMatch(/no bearer token found|not a JSON Web Token/);
    expect(await refusal(wrong.path.split('?')[0] ?? '', {})).toBe('no bearer token found');
  });

  test.each([
    ['Basic', 'Basic YTpi'],
    ['a scheme alone', 'Bearer'],
    ['a scheme that begins alike', 'BearerX abc'],
    ['a scheme with another blank', 'Bearer\tabc'],
    ['nothing', ''],
  ])('is not there behind %s', async (_what, authorization) => {
    expect(await refusal('/header', { authorization })).toBe('no bearer token found');
  });

  test('that is there twice is the first, and both go', async () => {
    const [good, wrong] = [await token(one), await token(other)];
    const twice = (first: string, second: string): Promise<string> => {
      const client = new RawClient(gateway.port(80));
      client.write(
        `GET /header HTTP/1.1\r\nhost: shop.test\r\nauthorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\nconnection: close\r\n\r\n`,
      );
      return client.closed.then(() => client.text);
    };
    const before = reached;
    const refused = await twice(wrong, good);
    expect(refused).toMatch(/^HTTP\/1\.1 401 /);
    expect(reached).toBe(before);
    const answer = await twice(good, wrong);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).not.toContain(good);
    expect(answer).not.toContain(wrong);
    expect((await passed(`/query?token=${good}&token=${wrong}`)).url).toBe('/query');
    const seen = await passed('/cookie', { cookie: `token=${good}; x=1; token=${wrong}` });
    expect(seen.headers['cookie']).toBe('x=1');
    expect(await refusal(`/query?token=${wrong}&token=${good}`, {})).toBe('token uses the unknown key "other"');
  });

  test('may be missing or wrong as its mode says, and what is wrong is believed nowhere', async () => {
    const wrong = await token({ ...other, kid: 'one' });
    await passed('/optional');
    expect(await refusal('/optional', bearer(wrong))).toBe(bad('InvalidSignature'));
    await passed('/permissive');
    expect((await passed('/permissive', bearer(wrong))).headers['authorization']).toBe(`Bearer ${wrong}`);
    expect((await passed('/permissive', bearer(await token(one)))).headers).not.toHaveProperty('authorization');
  });
});
