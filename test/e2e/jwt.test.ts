import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { forged, seconds, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { DocumentServer } from '../proxy/resources/server.ts';
import { eventually } from './clients.ts';
import { ask, type Answer, Cleanup, echo, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let one: Signer;
let two: Signer;
let rsa: Signer;

beforeAll(async () => {
  one = await signer('one');
  two = await signer('two', 'EdDSA');
  rsa = await signer('rsa', 'PS256');
});

function keySet(...signers: Signer[]): string {
  return JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });
}

/** Something that begins with a text of JSON is read as one when YAML reads it: it has to be quoted. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

const ISSUER = 'https://issuer.test';

async function keyServer(...signers: Signer[]): Promise<DocumentServer> {
  const server = cleanup.add(await DocumentServer.start((_request, response) => response.end(keySet(...signers))));
  server.serve(keySet(...signers));
  return server;
}

function config(backend: number, jwtAuth: string, more = ''): string {
  return `gateways: {default: {port: 80}}
routes:
- policies: {jwtAuth: ${jwtAuth}}
  backends: [{host: "127.0.0.1:${backend}"}]
${more}`;
}

async function guarded(jwtAuth: string, options: { threads?: number } = {}) {
  const behind = cleanup.add(await upstream(echo));
  const gateway = cleanup.add(await startGateway(config(behind.port, jwtAuth), options));
  const get = (text: string | null, path = '/'): Promise<Answer> =>
    ask(gateway.port(80), path, { headers: text === null ? {} : { authorization: `Bearer ${text}` } });
  return { ...gateway, get, behind: behind.port };
}

function seen(answer: Answer): { url: string; headers: Record<string, string> } {
  return JSON.parse(answer.body) as { url: string; headers: Record<string, string> }; // what `echo` answers
}

describe('a route with JSON Web Tokens', () => {
  test('lets valid tokens of several issuers through, without the token, and logs who came', async () => {
    const server = await keyServer(two);
    const gateway = await guarded(`{providers: [
      {issuer: ${ISSUER}, jwks: ${quoted(keySet(one, rsa))}},
      {issuer: "https://other.test/", audiences: [shop], jwks: {url: "${server.url}/keys"}}]}`);
    for (const text of [
      await token(one),
      await token(rsa),
      await token(two, { claims: { iss: 'https://other.test/', aud: ['shop'] } }),
    ]) {
      const answer = await gateway.get(text);
      expect(answer.status).toBe(200);
      expect(seen(answer).headers).not.toHaveProperty('authorization');
    }
    await gateway.logged('http.status=200', 'jwt.sub=alice');
    expect(gateway.log.join('\n')).not.toContain(await token(one).then((text) => text.split('.')[0] ?? ''));
  });

  test('refuses everything else with 401 and tells why, and the upstream sees nothing of it', async () => {
    let reached = 0;
    const behind = cleanup.add(await upstream((_request, response) => ((reached += 1), response.end())));
    const gateway = cleanup.add(
      await startGateway(config(behind.port, `{issuer: ${ISSUER}, jwks: ${quoted(keySet(one))}}`)),
    );
    const get = (text: string): Promise<Answer> => ask(gateway.port(80), '/', { headers: { authorization: text } });
    const prefix = 'authentication failure: ';
    const cases: [string, string][] = [
      ['Basic YTpi', 'no bearer token found'],
      ['Bearer', 'no bearer token found'],
      [`Bearer ${await token(two)}`, 'token uses the unknown key "two"'],
      [
        `Bearer ${await token({ ...one, privateKey: (await signer('x')).privateKey })}`,
        'the token is invalid or malformed: InvalidSignature',
      ],
      [
        `Bearer ${await token(one, { claims: { iss: `${ISSUER}/` } })}`,
        'the token is invalid or malformed: InvalidIssuer',
      ],
      [
        `Bearer ${await token(one, { claims: { exp: seconds(-90) } })}`,
        'the token is invalid or malformed: ExpiredSignature',
      ],
      [
        `Bearer ${await token(one, { claims: { nbf: seconds(90) } })}`,
        'the token is invalid or malformed: ImmatureSignature',
      ],
      [
        `Bearer ${forged({ alg: 'none', kid: 'one' }, { iss: ISSUER, exp: 9e9 })}`,
        'the token is invalid or malformed: InvalidAlgorithm',
      ],
      [`Bearer ${'a'.repeat(17_000)}.b.c`, 'the token is invalid or malformed: TokenTooLarge'],
    ];
    for (const [value, detail] of cases) {
      const answer = await get(value);
      expect([answer.status, answer.body]).toEqual([401, prefix + detail]);
      expect(answer.headers['x-gw-reason']).toBe('JwtAuth');
      expect(answer.headers['content-type']).toMatch(/^text\/plain/);
      expect(answer.headers['www-authenticate']).toBeUndefined();
    }
    // 100 kB do not fit into a request head at all.
    expect((await get(`Bearer ${'a'.repeat(100_000)}`)).status).toBe(431);
    expect(reached).toBe(0);
    await gateway.logged('http.status=401', 'reason=JwtAuth', 'ImmatureSignature');
  });

  test('runs before routing when it stands on the gateway', async () => {
    const behind = cleanup.add(await upstream(echo));
    const gateway = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80, jwtAuth: {issuer: ${ISSUER}, jwks: ${quoted(keySet(one))}}}}
routes: [{matches: [{path: {exact: /here}}], backends: [{host: "127.0.0.1:${behind.port}"}]}]`,
      ),
    );
    const authorization = `Bearer ${await token(one)}`;
    expect((await ask(gateway.port(80), '/nowhere')).status).toBe(401);
    expect((await ask(gateway.port(80), '/nowhere', { headers: { authorization } })).status).toBe(404);
    expect((await ask(gateway.port(80), '/here', { headers: { authorization } })).status).toBe(200);
  });

  test.each([undefined, 2])('follows a key set that rotates without a reload (threads: %s)', async (threads) => {
    const server = await keyServer(one);
    const gateway = await guarded(
      `{issuer: ${ISSUER}, jwks: {url: "${server.url}"}}`,
      threads === undefined ? {} : { threads },
    );
    const old = await token(one);
    const fresh = await token(two);
    expect((await gateway.get(old)).status).toBe(200);
    server.serve(keySet(two));
    // All at once, on whatever threads: one fetch serves them all.
    const answers = await Promise.all(Array.from({ length: 20 }, () => gateway.get(fresh)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(server.asked).toHaveLength(2);
    // What the new key set does not have is no longer believed, on any thread, though it was remembered.
    const after = await Promise.all(Array.from({ length: 10 }, () => gateway.get(old)));
    expect(after.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 401));
    expect(server.asked).toHaveLength(2);
  });

  test('keeps its keys while the key set is down, and a flood of unknown keys makes one fetch', async () => {
    const server = await keyServer(one);
    const gateway = await guarded(`{issuer: ${ISSUER}, jwks: {url: "${server.url}"}}`);
    server.answer = (_request, response) => response.destroy();
    const unknown = await token(two);
    const answers = await Promise.all(Array.from({ length: 50 }, () => gateway.get(unknown)));
    expect(new Set(answers.map(({ body }) => body))).toEqual(
      new Set(['authentication failure: token uses the unknown key "two"']),
    );
    expect(server.asked).toHaveLength(2);
    expect((await gateway.get(await token(one))).status).toBe(200);
    await gateway.logged('could not be refreshed');
  });

  test('waits for a slow key set only as long as the request may', async () => {
    const server = await keyServer(one);
    const behind = cleanup.add(await upstream(echo));
    const gateway = cleanup.add(
      await startGateway(`gateways: {default: {port: 80}}
routes:
- policies: {timeout: {requestTimeout: 50ms}, jwtAuth: {issuer: ${ISSUER}, jwks: {url: "${server.url}"}}}
  backends: [{host: "127.0.0.1:${behind.port}"}]`),
    );
    server.answer = () => {};
    const authorization = `Bearer ${await token(two)}`;
    const answer = await ask(gateway.port(80), '/', { headers: { authorization } });
    expect(answer.status).toBe(504);
  });

  test.each([
    ['down', null, /cannot load the key set http:\/\/127\.0\.0\.1:\d+\/: .*ECONNREFUSED/],
    [
      'answering with an error',
      (response: import('node:http').ServerResponse) => response.writeHead(500).end(),
      /status 500/,
    ],
    [
      'answering with garbage',
      (response: import('node:http').ServerResponse) => response.end('<html>'),
      /it is not JSON/,
    ],
    [
      'answering with too much',
      (response: import('node:http').ServerResponse) => response.end('x'.repeat(1_100_000)),
      /larger than 1 MiB/,
    ],
    [
      'answering with a key without an id',
      (response: import('node:http').ServerResponse) =>
        response.end(JSON.stringify({ keys: [{ ...one.jwk, kid: undefined }] })),
      /no `kid`/,
    ],
  ])('does not start while the key set is %s', async (_what, answer, message) => {
    const server = await DocumentServer.start((_request, response) => answer?.(response));
    if (answer === null) await server.close();
    else cleanup.add(server);
    const started = startGateway(config(1, `{issuer: ${ISSUER}, jwks: {url: "${server.url}"}}`));
    await expect(started).rejects.toThrow(message);
  });

  test('keeps the configuration that is live when a new one names a key set that cannot be had', async () => {
    const gateway = await guarded(`{issuer: ${ISSUER}, jwks: ${quoted(keySet(one))}}`);
    const server = await DocumentServer.start((_request, response) => response.end(keySet(two)));
    const next = config(gateway.behind, `{issuer: ${ISSUER}, jwks: {url: "${server.url}"}}`);
    server.answer = (_request, response) => response.writeHead(503).end();
    await expect(gateway.reload(next)).resolves.toMatchObject({ kind: 'rejected' });
    expect((await gateway.get(await token(one))).status).toBe(200);
    server.serve(keySet(two));
    await expect(gateway.reload(`${next}\n`)).resolves.toMatchObject({ kind: 'live' });
    expect((await gateway.get(await token(one))).status).toBe(401);
    expect((await gateway.get(await token(two))).status).toBe(200);
    await server.close();
    // It was fetched already, so it need not be there for a reload of something else.
    await expect(gateway.reload(`${next}\n\n`)).resolves.toMatchObject({ kind: 'live' });
    await expect(
      gateway.reload(config(gateway.behind, `{issuer: ${ISSUER}, jwks: ${quoted(keySet(one))}}`)),
    ).resolves.toMatchObject({ kind: 'live' });
    await eventually('the old key set is forgotten', async () => (await gateway.get(await token(two))).status === 401);
  });

  test('shows where its keys come from in the dump', async () => {
    const server = await keyServer(one);
    const gateway = await guarded(`{issuer: ${ISSUER}, jwks: {url: "${server.url}/keys?key=hidden"}}`);
    const dump = await (await fetch(`${gateway.admin}/config_dump`)).text();
    expect(dump).toContain(`${server.url}/keys?…`);
    expect(dump).not.toContain('hidden');
  });

  test('tells a trace who came, and never the token', async () => {
    const gateway = await guarded(`{issuer: ${ISSUER}, jwks: ${quoted(keySet(one))}}`);
    const text = await token(one);
    const watching = await fetch(`${gateway.admin}/debug/trace`, { headers: { accept: 'text/event-stream' } });
    await gateway.get(text);
    const events = await watching.text();
    expect(events).toContain('"kind":"jwt"');
    expect(events).toContain('\\"sub\\":\\"alice\\"');
    expect(events).not.toContain(text);
  });
});
