import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, describe, expect, test } from '@jest/globals';
import { decodeProtectedHeader, exportJWK, jwtVerify, SignJWT } from 'jose';

import { type Answer, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Echoed {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

function echoed(answer: Answer): Echoed {
  // `as`: what the echoing upstream writes.
  return JSON.parse(answer.body) as Echoed;
}

async function gateway(auth: string, options: { policies?: string; route?: string; more?: string } = {}) {
  const backend = cleanup.add(await upstream(echo));
  const { policies = '', route = '', more = '' } = options;
  const running = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
routes:
- name: r
  policies: {${route}}
  backends:
  - host: "127.0.0.1:${backend.port}"
    policies: {backendAuth: ${auth}${policies === '' ? '' : `, ${policies}`}}
${more}`),
  );
  return { ...running, http: running.port(80) };
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'backend-auth-'));
  cleanup.add({ close: () => rmSync(path, { recursive: true }) });
  return path;
}

describe('a key', () => {
  test.each([
    ['of the text', 'sesame', 'Bearer sesame', 'authorization'],
    ['at a place', '{value: sesame, location: {header: {name: X-Api-Key}}}', 'sesame', 'x-api-key'],
    ['behind a prefix', '{value: sesame, location: {header: {name: X-Auth, prefix: "Key "}}}', 'Key sesame', 'x-auth'],
    ['in a cookie', '{value: sesame, location: {cookie: {name: k}}}', 'a=b; k=sesame', 'cookie'],
  ])('%s replaces what the client sent', async (_name, key, value, header) => {
    const { http } = await gateway(`{key: ${key}}`);
    const headers = { 'x-api-key': 'mine', authorization: 'Bearer mine', 'x-auth': 'mine', cookie: 'a=b; k=mine' };
    const answer = await ask(http, '/x', { headers });
    expect([answer.status, echoed(answer).headers[header]]).toEqual([200, value]);
  });

  test('in the query replaces the parameter of that name', async () => {
    const { http } = await gateway('{key: {value: "ses ame&", location: {queryParameter: {name: k}}}}');
    expect(echoed(await ask(http, '/x?a=1&k=mine&k=more&b=2')).url).toBe('/x?a=1&k=ses%20ame%26&b=2');
  });

  test('of a file is that of the file when it changes, without white space', async () => {
    const file = join(folder(), 'key');
    writeFileSync(file, 'first\n');
    const backend = cleanup.add(await upstream(echo));
    const text = `
gateways: {default: {port: 80}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: {key: {file: ${file}}}}}]}]
`;
    const running = cleanup.add(await startGateway(text));
    expect(echoed(await ask(running.port(80), '/')).headers['authorization']).toBe('Bearer first');
    writeFileSync(file, 'second\n');
    await running.reload(text);
    expect(echoed(await ask(running.port(80), '/')).headers['authorization']).toBe('Bearer second');
  });

  test('that no header can hold is not sent at all', async () => {
    const { http } = await gateway('{key: "a\\nx-evil: b"}');
    const answer = await ask(http, '/');
    expect([answer.status, answer.headers['x-gw-reason']]).toEqual([503, 'UpstreamFailure']);
    expect(answer.body).toBe('backend authentication failed: the credential cannot be written to its place');
  });

  test('stands beside further credentials', async () => {
    const { http } = await gateway(
      '{key: one, credentials: [{location: {header: {name: x-two}}, key: two}, {location: {queryParameter: {name: three}}, key: three}]}',
    );
    const { headers, url } = echoed(await ask(http, '/'));
    expect([headers['authorization'], headers['x-two'], url]).toEqual(['Bearer one', 'two', '/?three=three']);
  });

  test('of a route is that of its backends, and may be moved by the changes of the backend', async () => {
    const { http } = await gateway('{key: inner}', {
      policies: 'requestHeaderModifier: {set: {x-more: here}}',
      route: 'backendAuth: {key: outer}',
    });
    const { headers } = echoed(await ask(http, '/'));
    expect([headers['authorization'], headers['x-more']]).toEqual(['Bearer inner', 'here']);
  });

  test('is in no trace, dump or log, and the trace says that it was written', async () => {
    const running = await gateway(
      '{key: {value: ses4me, location: {header: {name: x-odd}}}, credentials: [{location: {queryParameter: {name: odd}}, key: qu3ry}]}',
    );
    const watch = cleanup.add(await TraceWatch.open(running.admin));
    expect((await ask(running.http, '/x?a=b', { headers: { 'x-odd': 'of the client' } })).status).toBe(200);
    const text = await watch.finished();
    expect(text).toContain('key in header x-odd');
    expect(text).toContain('"x-odd":"<redacted>"');
    expect(text).toContain('odd=<redacted>');
    const dump = await (await fetch(`${running.admin}/config_dump`)).text();
    for (const shown of [text, dump, running.log.join('\n')]) {
      expect(shown).not.toContain('ses4me');
      expect(shown).not.toContain('qu3ry');
    }
  });

  test('is written anew for each attempt, over what the route left', async () => {
    const seen: string[] = [];
    const backend = cleanup.add(
      await upstream((request, response) => {
        seen.push(`${request.url} ${request.headers['x-key'] ?? ''}`);
        response.writeHead(seen.length < 3 ? 503 : 200).end();
      }),
    );
    const auth =
      '{key: {value: k, location: {queryParameter: {name: k}}}, credentials: [{location: {header: {name: x-key}}, key: h}]}';
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes: [{policies: {retry: {attempts: 3, codes: [503]}}, backends: [{host: "127.0.0.1:${backend.port}", policies: {backendAuth: ${auth}}}]}]
`),
    );
    expect((await ask(running.port(80), '/')).status).toBe(200);
    expect(seen).toEqual(['/?k=k h', '/?k=k h', '/?k=k h']);
  });

  test('is seen by nothing that comes after the call', async () => {
    const { http } = await gateway('{key: ses4me}', {
      route:
        'transformations: {response: {set: {x-sent: \'"authorization" in request.headers ? request.headers["authorization"] : "nothing"\'}}}',
    });
    const answer = await ask(http, '/');
    expect(echoed(answer).headers['authorization']).toBe('Bearer ses4me');
    expect(answer.headers['x-sent']).toBe('nothing');
  });

  test('that is longer than any is refused', async () => {
    await expect(gateway(`{key: ${'x'.repeat(2049)}}`)).rejects.toThrow('longer than 2048');
  });

  test.each([
    ['{}', 'needs a kind of credential'],
    ['{key: a, passthrough: {}}', 'takes only one of'],
    ['{key: {value: a, location: {expression: "x"}}}', 'unknown key'],
    ['{key: {file: /does/not/exist}}', 'there is no file'],
  ])('%s is refused', async (auth, message) => {
    const text = `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "h:1", policies: {backendAuth: ${auth}}}]}]`;
    await expect(startGateway(text).then((running) => cleanup.add(running))).rejects.toThrow(message);
  });
});

describe('the token of the caller', () => {
  async function protectedGateway(passthrough: string) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256' }] });
    const running = await gateway(`{passthrough: ${passthrough}}`, {
      route: `jwtAuth: {mode: optional, issuer: i, audiences: [a], jwks: '${jwks}'}`,
    });
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .setIssuer('i')
      .setAudience('a')
      .setExpirationTime('1h')
      .sign(privateKey);
    return { ...running, token };
  }

  test('is put back once it is verified', async () => {
    const { http, token } = await protectedGateway('{}');
    const { headers } = echoed(await ask(http, '/', { headers: { authorization: `Bearer ${token}` } }));
    expect(headers['authorization']).toBe(`Bearer ${token}`);
  });

  test('may go to another place', async () => {
    const { http, token } = await protectedGateway('{location: {header: {name: x-user-token}}}');
    const { headers } = echoed(await ask(http, '/', { headers: { authorization: `Bearer ${token}` } }));
    expect([headers['authorization'], headers['x-user-token']]).toEqual([undefined, token]);
  });

  test('is not made up when there was none', async () => {
    const { http } = await protectedGateway('{}');
    const answer = await ask(http, '/', { headers: { 'x-api-key': 'x' } });
    expect([answer.status, echoed(answer).headers['authorization']]).toEqual([200, undefined]);
  });
});

describe('a signed token', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const p256 = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });

  function keyFile(key: KeyObject, type: 'pkcs8' | 'sec1' | 'pkcs1' = 'pkcs8'): string {
    const file = join(folder(), 'key.pem');
    writeFileSync(file, key.export({ format: 'pem', type }));
    return `{file: ${file}}`;
  }

  test.each([
    ['RS256', rsa, 'pkcs8'],
    ['RS384', rsa, 'pkcs1'],
    ['RS512', rsa, 'pkcs8'],
    ['PS256', rsa, 'pkcs8'],
    ['ES256', p256, 'sec1'],
    ['ES384', p384, 'pkcs8'],
  ] as const)('of %s is verified by a stranger, with its claims and times', async (alg, pair, type) => {
    const { http } = await gateway(
      `{jwtSign: {signingKey: ${keyFile(pair.privateKey, type)}, alg: ${alg}, kid: k1, claims: {iss: gw, aud: [a, b], n: 1}, ttl: 90500ms}}`,
    );
    const token = echoed(await ask(http, '/')).headers['authorization']?.slice('Bearer '.length) ?? '';
    expect(decodeProtectedHeader(token)).toEqual({ alg, typ: 'JWT', kid: 'k1' });
    const { payload } = await jwtVerify(token, pair.publicKey, { issuer: 'gw', audience: 'b' });
    expect(payload).toMatchObject({ iss: 'gw', aud: ['a', 'b'], n: 1 });
    const now = Math.floor(Date.now() / 1000);
    // Within a second or two of now, whatever the machine does.
    expect(Math.abs((payload.iat ?? 0) - (now - 10))).toBeLessThan(5);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(101);
  });

  test('goes where it is told to', async () => {
    const { http } = await gateway(
      `{jwtSign: {signingKey: ${keyFile(p256.privateKey)}, alg: ES256, location: {header: {name: x-gateway}}}}`,
    );
    const { headers } = echoed(await ask(http, '/', { headers: { authorization: 'Bearer mine' } }));
    expect(headers['authorization']).toBe('Bearer mine');
    await jwtVerify(headers['x-gateway'] ?? '', p256.publicKey);
  });

  test.each([
    ['for another algorithm', () => `{signingKey: ${keyFile(p256.privateKey)}}`, 'it has to be an RSA key'],
    ['on another curve', () => `{signingKey: ${keyFile(p256.privateKey)}, alg: ES384}`, 'on the curve secp384r1'],
    [
      'that is too short',
      () => `{signingKey: ${keyFile(generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey)}}`,
      'at least 2048 bits',
    ],
  ])('with a key %s is refused', async (_name, settings, message) => {
    await expect(gateway(`{jwtSign: ${settings()}}`)).rejects.toThrow(message);
  });

  test.each([
    ['claims: {exp: 1}', 'exp is set by the gateway'],
    ['ttl: 500ms', 'at least 1s'],
  ])('with %s is refused', async (setting, message) => {
    await expect(gateway(`{jwtSign: {signingKey: ${keyFile(rsa.privateKey)}, ${setting}}}`)).rejects.toThrow(message);
  });
});
