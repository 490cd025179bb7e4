import { createHash, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, exportJWK, jwtVerify, SignJWT, UnsecuredJWT } from 'jose';

import { type Answer, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { type TokenEndpoint, tokenEndpoint } from './token-endpoint.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const JWT = 'urn:ietf:params:oauth:token-type:jwt';
const SUBJECT = { headers: { authorization: 'Bearer subject-token-of-the-caller' } };

interface Echoed {
  readonly url: string;
  readonly headers: Record<string, string>;
}

function echoed(answer: Answer): Echoed {
  // `as`: what the echoing upstream writes.
  return JSON.parse(answer.body) as Echoed;
}

async function gateway(auth: string, options: { route?: string; threads?: number } = {}) {
  const backend = cleanup.add(await upstream(echo));
  const running = cleanup.add(
    await startGateway(
      `
gateways: {default: {port: 80}}
routes:
- policies: {${options.route ?? ''}}
  backends:
  - host: "127.0.0.1:${backend.port}"
    policies:
      backendAuth: ${auth}
`,
      options.threads === undefined ? {} : { threads: options.threads },
    ),
  );
  return { ...running, http: running.port(80) };
}

function exchange(endpoint: Pick<TokenEndpoint, 'port'>, settings = ''): string {
  return `{oauthTokenExchange: {host: "127.0.0.1:${endpoint.port}"${settings === '' ? '' : `, ${settings}`}}}`;
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'oauth-'));
  cleanup.add({ close: () => rmSync(path, { recursive: true }) });
  return path;
}

function refusal({ status, body, headers }: Answer): unknown[] {
  return [status, body, headers['x-gw-reason']];
}

describe('a token exchange', () => {
  test('sends what RFC 8693 asks for, and the new token goes in the place of the old', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint));
    const answer = await ask(http, '/', SUBJECT);
    expect(echoed(answer).headers['authorization']).toBe('Bearer token-1');
    const [call] = endpoint.calls;
    expect([call?.method, call?.url, call?.headers['content-type'], call?.headers.accept]).toEqual([
      'POST',
      '/',
      'application/x-www-form-urlencoded',
      'application/json',
    ]);
    expect(call?.headers.authorization).toBeUndefined();
    expect(call?.form).toEqual([
      ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      ['subject_token', 'subject-token-of-the-caller'],
      ['subject_token_type', ACCESS_TOKEN],
    ]);
  });

  test('sends every parameter that is configured, in its order', async () => {
    const endpoint = await tokenEndpoint(cleanup, () => ({
      access_token: 'new',
      token_type: 'bearer',
      issued_token_type: JWT,
    }));
    const { http } = await gateway(
      exchange(
        endpoint,
        `path: "/realms/a/token?x=1", subjectToken: {source: {header: {name: x-subject}}, tokenType: ${JWT}},
         actorToken: {source: {queryParameter: {name: actor}}, tokenType: "https://example.test/actor"},
         audiences: [a, "b c"], scopes: [read, write], resources: ["https://one.test/", "https://two.test/?q=1"],
         requestedTokenType: ${JWT}, additionalParams: {zone: '"z&=" + request.method', acr: request.path},
         authorizationLocation: {header: {name: x-token, prefix: "T "}}`,
      ),
    );
    const answer = await ask(http, '/p?actor=act%20or&keep=1', {
      headers: { 'x-subject': 'sub', authorization: 'kept' },
    });
    expect(endpoint.calls[0]?.url).toBe('/realms/a/token?x=1');
    expect(endpoint.calls[0]?.form).toEqual([
      ['grant_type', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      ['subject_token', 'sub'],
      ['subject_token_type', JWT],
      ['actor_token', 'act or'],
      ['actor_token_type', 'https://example.test/actor'],
      ['requested_token_type', JWT],
      ['audience', 'a'],
      ['audience', 'b c'],
      ['scope', 'read write'],
      ['resource', 'https://one.test/'],
      ['resource', 'https://two.test/?q=1'],
      ['acr', '/p'],
      ['zone', 'z&=GET'],
    ]);
    const { url, headers } = echoed(answer);
    // The backend gets neither the subject nor the actor.
    expect([url, headers['x-token'], headers['x-subject'], headers['authorization']]).toEqual([
      '/p?keep=1',
      'T new',
      undefined,
      'kept',
    ]);
  });

  test('takes subject and actor out of cookies', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, 'subjectToken: {source: {cookie: {name: s}}}'));
    const answer = await ask(http, '/', { headers: { cookie: 'a=b; s=sub; c=d' } });
    expect(endpoint.calls[0]?.form).toContainEqual(['subject_token', 'sub']);
    expect(echoed(answer).headers['cookie']).toBe('a=b; c=d');
  });

  test('by an assertion sends what RFC 7523 asks for', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(
      exchange(endpoint, 'grantType: jwtBearer, scopes: [a, b], audiences: [c], resources: ["https://r.test"]'),
    );
    expect(echoed(await ask(http, '/', SUBJECT)).headers['authorization']).toBe('Bearer token-1');
    expect(endpoint.calls[0]?.form).toEqual([
      ['grant_type', 'urn:ietf:params:oauth:grant-type:jwt-bearer'],
      ['assertion', 'subject-token-of-the-caller'],
      ['audience', 'c'],
      ['scope', 'a b'],
      ['resource', 'https://r.test'],
    ]);
  });

  test('may take its subject from a token that another policy has verified and taken away', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] });
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer('i')
      .setExpirationTime('1h')
      .sign(privateKey);
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(
      exchange(endpoint, 'subjectToken: {source: {expression: jwt.rawToken.unredacted()}}'),
      { route: `jwtAuth: {issuer: i, jwks: '${jwks}'}` },
    );
    const answer = await ask(http, '/', { headers: { authorization: `Bearer ${token}` } });
    expect(endpoint.calls[0]?.form).toContainEqual(['subject_token', token]);
    expect(echoed(answer).headers['authorization']).toBe('Bearer token-1');
  });

  test('works in worker threads', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint), { threads: 1 });
    expect(echoed(await ask(http, '/', SUBJECT)).headers['authorization']).toBe('Bearer token-1');
  });

  test('is made again for each attempt that finds nothing remembered, from the same subject', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const attempts: (string | undefined)[] = [];
    const backend = cleanup.add(
      await upstream((request, response) => {
        attempts.push(request.headers.authorization);
        response.writeHead(attempts.length < 3 ? 503 : 200).end();
      }),
    );
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- policies: {retry: {attempts: 2, codes: [503]}}
  backends:
  - host: "127.0.0.1:${backend.port}"
    policies: {backendAuth: ${exchange(endpoint, 'cache: {maxEntries: 0}')}}
`),
    );
    expect((await ask(running.port(80), '/', SUBJECT)).status).toBe(200);
    expect(attempts).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-3']);
    expect(new Set(endpoint.calls.map(({ body }) => body)).size).toBe(1);
  });
});

describe('a request without what is exchanged', () => {
  const settings = [
    ['no subject', '', {}],
    ['a blank subject', '', { authorization: 'Bearer  ' }],
    ['a subject of another scheme', '', { authorization: 'Basic YTpi' }],
    ['no actor', 'actorToken: {source: {header: {name: x-actor}}}', SUBJECT.headers],
    ['a parameter that fails', `additionalParams: {a: 'request.headers["x-missing"]'}`, SUBJECT.headers],
    ['a parameter that is no text', 'additionalParams: {a: "1"}', SUBJECT.headers],
  ] as const;
  test.each(settings)('(%s) is refused with 400, and nobody is asked', async (_name, extra, headers) => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, extra));
    expect(refusal(await ask(http, '/', { headers }))).toEqual([400, 'invalid request', 'InvalidRequest']);
    expect(endpoint.calls).toEqual([]);
  });

  test('tells those who watch what is missing', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const running = await gateway(exchange(endpoint));
    const watch = cleanup.add(await TraceWatch.open(running.admin));
    await ask(running.http, '/');
    expect(await watch.finished()).toContain('the request has no subject token');
  });
});

describe('an actor', () => {
  const enforced = `actorToken: {source: {header: {name: x-actor}}, tokenType: ${JWT}, enforceMayAct: true}`;
  const token = (claims: Record<string, unknown>): string => new UnsecuredJWT(claims).encode();

  test.each([
    ['an equal claim', { sub: 'service' }, { sub: 'service', iss: 'x' }],
    ['several', { sub: 'service', iss: 'x' }, { sub: 'service', iss: 'x' }],
    ['a list that has it', { sub: ['other', 'service'] }, { sub: 'service' }],
    ['an equal object', { a: { b: [1] } }, { a: { b: [1] } }],
  ])('may act where `may_act` names it by %s', async (_name, mayAct, claims) => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, enforced));
    const headers = { authorization: `Bearer ${token({ sub: 'alice', may_act: mayAct })}`, 'x-actor': token(claims) };
    const answer = await ask(http, '/', { headers });
    expect([answer.status, echoed(answer).headers['x-actor']]).toEqual([200, undefined]);
    expect(endpoint.calls[0]?.form).toContainEqual(['actor_token', headers['x-actor']]);
  });

  test.each([
    ['names another', { sub: 'other' }],
    ['names more than it is', { sub: 'service', iss: 'y' }],
    ['is empty', {}],
    ['is missing', undefined],
    ['is a text', 'service'],
    ['is a list', ['service']],
    ['lists others', { sub: ['a', 'b'] }],
  ])('may not act where `may_act` %s', async (_name, mayAct) => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, enforced));
    const headers = { authorization: `Bearer ${token({ may_act: mayAct })}`, 'x-actor': token({ sub: 'service' }) };
    expect(refusal(await ask(http, '/', { headers }))).toEqual([403, 'authorization failed', 'Authorization']);
    expect(endpoint.calls).toEqual([]);
  });

  test.each(['opaque', 'a.b', '..', 'a.W10.c', `${'x'.repeat(9000)}`])(
    'or subject that is no token (%#) may not',
    async (text) => {
      const endpoint = await tokenEndpoint(cleanup);
      const { http } = await gateway(exchange(endpoint, enforced));
      const good = token({ sub: 'service', may_act: { sub: 'service' } });
      for (const [subject, actor] of [
        [text, good],
        [good, text],
      ] as const) {
        const answer = await ask(http, '/', { headers: { authorization: `Bearer ${subject}`, 'x-actor': actor } });
        expect(answer.status).toBe(403);
      }
      expect(endpoint.calls).toEqual([]);
    },
  );
});

describe('the gateway shows itself to the token endpoint', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  test('by a secret in the header, form-encoded', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, 'clientAuth: {clientId: "a b:c", clientSecret: "p%s:w+rd & ü"}'));
    await ask(http, '/', SUBJECT);
    const [scheme, value = ''] = endpoint.calls[0]?.headers.authorization?.split(' ') ?? [];
    const [id, secret] = Buffer.from(value, 'base64').toString().split(':');
    expect([scheme, id, secret]).toEqual(['Basic', 'a+b%3Ac', 'p%25s%3Aw%2Brd+%26+%C3%BC']);
    expect(endpoint.calls[0]?.body).not.toContain('client');
  });

  test.each([
    [
      'a secret',
      ', clientSecret: "s&1"',
      [
        ['client_id', 'gw'],
        ['client_secret', 's&1'],
      ],
    ],
    ['its name alone', '', [['client_id', 'gw']]],
  ])('by %s in the form', async (_name, secret, expected) => {
    const endpoint = await tokenEndpoint(cleanup);
    const { http } = await gateway(exchange(endpoint, `clientAuth: {method: clientSecretPost, clientId: gw${secret}}`));
    await ask(http, '/', SUBJECT);
    expect(endpoint.calls[0]?.form.slice(3)).toEqual(expected);
    expect(endpoint.calls[0]?.headers.authorization).toBeUndefined();
  });

  test.each([
    ['RS256', rsa],
    ['PS256', rsa],
    ['ES256', p256],
  ] as const)('by an assertion signed with %s, each used once', async (alg, pair) => {
    const endpoint = await tokenEndpoint(cleanup);
    const file = join(folder(), 'key.pem');
    writeFileSync(file, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    const { http } = await gateway(
      exchange(
        endpoint,
        `cache: {maxEntries: 0}, clientAuth: {method: privateKeyJwt, clientId: gw, signingKey: {file: ${file}}, alg: ${alg}, kid: k1, assertionAudience: "https://as.test/"}`,
      ),
    );
    await ask(http, '/', SUBJECT);
    await ask(http, '/', SUBJECT);
    const ids = new Set<string | undefined>();
    for (const { form, headers } of endpoint.calls) {
      const fields = Object.fromEntries(form);
      expect(headers.authorization).toBeUndefined();
      expect([fields['client_id'], fields['client_assertion_type'], fields['client_secret']]).toEqual([
        'gw',
        'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        undefined,
      ]);
      const { payload, protectedHeader } = await jwtVerify(fields['client_assertion'] ?? '', pair.publicKey, {
        issuer: 'gw',
        subject: 'gw',
        audience: 'https://as.test/',
        requiredClaims: ['jti', 'iat', 'nbf', 'exp'],
      });
      expect(protectedHeader).toEqual({ alg, typ: 'JWT', kid: 'k1' });
      expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(310);
      expect(payload.nbf).toBe(payload.iat);
      ids.add(payload.jti);
    }
    expect(ids.size).toBe(2);
  });

  const own = certified();
  test.each(['x5c', 'x5t#S256'] as const)('by an assertion that names its certificate as %s', async (header) => {
    const endpoint = await tokenEndpoint(cleanup);
    const { key, cert } = own;
    const { http } = await gateway(
      exchange(
        endpoint,
        `clientAuth: {method: privateKeyJwt, clientId: gw, signingKey: {file: ${key}}, alg: ES256, assertionAudience: a, certificate: {file: ${cert}}, certificateHeader: "${header}"}`,
      ),
    );
    await ask(http, '/', SUBJECT);
    const assertion = Object.fromEntries(endpoint.calls[0]?.form ?? [])['client_assertion'] ?? '';
    const certificate = new X509Certificate(readFileSync(cert));
    await jwtVerify(assertion, certificate.publicKey, { audience: 'a' });
    const { x5c, 'x5t#S256': thumbprint } = decodeProtectedHeader(assertion);
    const expected = {
      x5c: [[certificate.raw.toString('base64')], undefined],
      'x5t#S256': [undefined, createHash('sha256').update(certificate.raw).digest('base64url')],
    };
    expect([x5c, thumbprint]).toEqual(expected[header]);
  });

  test('but not with a certificate of another key', async () => {
    const file = join(folder(), 'key.pem');
    writeFileSync(file, rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }));
    await expect(
      gateway(
        exchange(
          { port: 1 },
          `clientAuth: {method: privateKeyJwt, clientId: gw, signingKey: {file: ${file}}, assertionAudience: a, certificate: {file: ${own.cert}}, certificateHeader: x5c}`,
        ),
      ),
    ).rejects.toThrow('does not belong to the signing key');
  });
});

/** A key and its certificate, as files of the repository's tests. */
function certified(): { readonly key: string; readonly cert: string } {
  const at = (name: string): string => join(import.meta.dirname, '../fixtures/tls', name);
  return { key: at('a.key'), cert: at('a.crt') };
}
