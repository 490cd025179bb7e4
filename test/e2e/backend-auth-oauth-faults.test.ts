import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import type { ServerResponse } from 'node:http';

import { afterEach, describe, expect, test } from '@jest/globals';
import { UnsecuredJWT } from 'jose';

import { eventually } from './clients.ts';
import { type Answer, ask, Cleanup, type RunningGateway, startGateway, upstream } from './gateway.ts';
import { answering, type TokenEndpoint, tokenEndpoint } from './token-endpoint.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SUBJECT = 'subject-token-of-the-caller';
const SECRET = 'the-secret-of-the-client';

interface Rig extends RunningGateway {
  readonly http: number;
  /** Tokens that the backend has seen. */
  readonly seen: (string | undefined)[];
  call(token?: string): Promise<Answer>;
}

async function gateway(endpoint: Pick<TokenEndpoint, 'port'>, settings = ''): Promise<Rig> {
  const seen: (string | undefined)[] = [];
  const backend = cleanup.add(
    await upstream((request, response) => {
      seen.push(request.headers.authorization);
      response.end('ok');
    }),
  );
  const running = cleanup.add(await startGateway(config({ backend: backend.port, endpoint: endpoint.port }, settings)));
  const http = running.port(80);
  const call = (token = SUBJECT): Promise<Answer> => ask(http, '/', { headers: { authorization: `Bearer ${token}` } });
  return { ...running, http, seen, call };
}

function config(ports: { backend: number; endpoint: number }, settings: string): string {
  return `
gateways: {default: {port: 80}}
routes:
- backends:
  - host: "127.0.0.1:${ports.backend}"
    policies:
      backendAuth:
        oauthTokenExchange:
          host: "127.0.0.1:${ports.endpoint}"
          clientAuth: {method: clientSecretPost, clientId: gw, clientSecret: ${SECRET}}
          ${settings}
`;
}

function refusal({ status, body, headers }: Answer): unknown[] {
  return [status, body, headers['x-gw-reason']];
}

const failed = (why: string): unknown[] => [500, `backend authentication failed: ${why}`, 'Internal'];
const notTheCallers = [400, 'invalid request', 'InvalidRequest'];

describe('an endpoint that gives no token', () => {
  const token = { access_token: 'new', token_type: 'Bearer' };
  test.each([
    ['400', answering(400, { error: 'invalid_grant' }), notTheCallers],
    ['404', answering(404, 'not here'), notTheCallers],
    ['401', answering(401, { error: 'invalid_client' }), failed('the token endpoint answered 401')],
    ['403', answering(403, ''), failed('the token endpoint answered 403')],
    ['500', answering(500, '<html>oops</html>'), failed('the token endpoint answered 500')],
    ['a redirect', answering(302, ''), failed('the token endpoint answered 302')],
    ['nothing', answering(200, ''), failed('the token endpoint did not answer with a JSON object')],
    ['a page', answering(200, '<html></html>'), failed('the token endpoint did not answer with a JSON object')],
    ['a list', answering(200, []), failed('the token endpoint did not answer with a JSON object')],
    [
      'half an object',
      answering(200, '{"access_token":"a"'),
      failed('the token endpoint did not answer with a JSON object'),
    ],
    ['no type', answering(200, { access_token: 'new' }), failed('the token endpoint gave no bearer token')],
    [
      'another type',
      answering(200, { ...token, token_type: 'DPoP' }),
      failed('the token endpoint gave no bearer token'),
    ],
    ['a number', answering(200, { ...token, access_token: 7 }), failed('the token endpoint gave no token')],
    ['an empty token', answering(200, { ...token, access_token: '' }), failed('the token endpoint gave no token')],
    [
      'a token with a line break',
      answering(200, { ...token, access_token: 'a\r\nx: y' }),
      failed('the token endpoint gave no token'),
    ],
    [
      'a huge answer',
      answering(200, { ...token, more: 'x'.repeat(70_000) }),
      failed('the answer of the token endpoint is too large'),
    ],
    ['a cut answer', cut, failed('the token endpoint gives no answer')],
    ['a reset', reset, failed('the token endpoint gives no answer')],
  ] as const)(
    'but %s is refused; nothing goes to the backend, nothing is remembered',
    async (_name, answer, expected) => {
      const endpoint = await tokenEndpoint(cleanup, answer);
      const rig = await gateway(endpoint);
      expect(refusal(await rig.call())).toEqual(expected);
      expect(rig.seen).toEqual([]);
      endpoint.answer = () => token;
      expect((await rig.call()).status).toBe(200);
      expect(rig.seen).toEqual(['Bearer new']);
    },
  );

  test('of the type that was asked for is refused', async () => {
    const endpoint = await tokenEndpoint(cleanup, () => ({ ...token, issued_token_type: 'urn:x:other' }));
    const rig = await gateway(endpoint, 'requestedTokenType: urn:x:wanted');
    expect(refusal(await rig.call())).toEqual(failed('the token endpoint gave a token of another type'));
  });

  test('because it is not there is refused', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    // `as`: a TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const rig = await gateway({ port });
    expect(refusal(await rig.call())).toEqual(failed('the token endpoint gives no answer'));
    const line = await rig.logged('backend authentication failed', 'cannot be reached');
    expect(line).toContain('route');
  });

  test('in time is refused, and the limit of the connection counts', async () => {
    const endpoint = await tokenEndpoint(cleanup, () => undefined);
    const rig = await gateway(endpoint, 'policies: {http: {requestTimeout: 50ms}}');
    expect(refusal(await rig.call())).toEqual(failed('the token endpoint gives no answer'));
  });

  test('before the deadline of the request is not waited for', async () => {
    const endpoint = await tokenEndpoint(cleanup, () => undefined);
    const backend = cleanup.add(await upstream((_request, response) => response.end()));
    const text = config({ backend: backend.port, endpoint: endpoint.port }, '').replace(
      '- backends:',
      '- policies: {timeout: {requestTimeout: 50ms}}\n  backends:',
    );
    const running = cleanup.add(await startGateway(text));
    const answer = await ask(running.port(80), '/', { headers: { authorization: `Bearer ${SUBJECT}` } });
    expect(refusal(answer)).toEqual([504, 'request timeout', 'Timeout']);
  });
});

function cut(_call: unknown, response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"access_token":', () => response.destroy());
}

function reset(_call: unknown, response: ServerResponse): void {
  response.socket?.resetAndDestroy();
}

describe('what the endpoint says of a failure', () => {
  const told = {
    error: 'invalid_grant',
    error_description: `the token ${SUBJECT} has no audience\u0000\nsee ${SECRET} or ${'eyJ'.repeat(20)}`,
  };

  test.each([400, 500])('(%d) is told to the log and to those who watch, without credentials', async (status) => {
    const endpoint = await tokenEndpoint(cleanup, answering(status, told));
    const rig = await gateway(endpoint);
    const watch = cleanup.add(await TraceWatch.open(rig.admin));
    const answer = await rig.call();
    const trace = await watch.finished();
    const line = await rig.logged('invalid_grant', 'has no audience');
    expect(trace).toContain('has no audience');
    expect(answer.body).not.toContain('audience');
    const dump = await (await fetch(`${rig.admin}/config_dump`)).text();
    for (const shown of [answer.body, trace, dump, line, ...rig.log]) {
      expect(shown).not.toContain(SUBJECT);
      expect(shown).not.toContain(SECRET);
      expect(shown).not.toContain('eyJeyJ');
    }
  });

  test('is the same for those who only watch a success: no token is shown', async () => {
    const endpoint = await tokenEndpoint(cleanup, () => ({
      access_token: 'token-of-the-gateway',
      token_type: 'bearer',
    }));
    const rig = await gateway(endpoint);
    const watch = cleanup.add(await TraceWatch.open(rig.admin));
    expect((await rig.call()).status).toBe(200);
    const trace = await watch.finished();
    expect(trace).toContain('exchanged token in header authorization');
    for (const shown of [trace, ...rig.log]) expect(shown).not.toMatch(/token-of-the|the-secret/);
  });
});

describe('tokens are remembered', () => {
  test('by caller, and each is asked for once', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const rig = await gateway(endpoint);
    for (const caller of ['alice', 'bob', 'alice', 'bob']) await rig.call(caller);
    expect(rig.seen).toEqual(['Bearer token-1', 'Bearer token-2', 'Bearer token-1', 'Bearer token-2']);
    expect(endpoint.calls).toHaveLength(2);
  });

  test('and those who ask at the same time share one call, even when it fails', async () => {
    const asked = Promise.withResolvers<void>();
    const endpoint = await tokenEndpoint(cleanup, async (_call, response) => {
      await asked.promise;
      response.statusCode = 500;
      return '';
    });
    const rig = await gateway(endpoint);
    const answers = [rig.call(), rig.call(), rig.call()];
    await eventually('the endpoint is asked', () => endpoint.calls.length === 1);
    const late = [rig.call(), rig.call()];
    asked.resolve();
    for (const answer of await Promise.all([...answers, ...late])) expect(answer.status).toBe(500);
    endpoint.answer = () => ({ access_token: 'good', token_type: 'Bearer' });
    expect((await rig.call()).status).toBe(200);
  });

  test('by one caller who leaves, for another who waits', async () => {
    const asked = Promise.withResolvers<void>();
    const endpoint = await tokenEndpoint(cleanup, async () => {
      await asked.promise;
      return { access_token: 'good', token_type: 'Bearer' };
    });
    const rig = await gateway(endpoint);
    const leaving = new AbortController();
    const first = fetch(`http://127.0.0.1:${rig.http}/`, {
      headers: { authorization: `Bearer ${SUBJECT}` },
      signal: leaving.signal,
    }).catch(() => 'left');
    await eventually('the endpoint is asked', () => endpoint.calls.length === 1);
    const second = rig.call();
    leaving.abort();
    expect(await first).toBe('left');
    asked.resolve();
    expect((await second).status).toBe(200);
    expect(endpoint.calls).toHaveLength(1);
  });

  test.each([
    ['end at once', { expires_in: 0 }],
    ['have ended', { expires_in: -5 }],
    ['end within seconds', { expires_in: 15 }],
    ['end within seconds, as a text', { expires_in: '10' }],
  ])('unless they %s: then they are used once', async (_name, more) => {
    let count = 0;
    const endpoint = await tokenEndpoint(cleanup, () => ({
      access_token: `t${++count}`,
      token_type: 'Bearer',
      ...more,
    }));
    const rig = await gateway(endpoint);
    await rig.call();
    await rig.call();
    expect(rig.seen).toEqual(['Bearer t1', 'Bearer t2']);
  });

  test.each([
    ['says nothing', {}],
    ['says nothing of use', { expires_in: 'soon' }],
    ['says much', { expires_in: 1e300 }],
  ])('for a while when the endpoint %s', async (_name, more) => {
    const endpoint = await tokenEndpoint(cleanup, () => ({ access_token: 't', token_type: 'Bearer', ...more }));
    const rig = await gateway(endpoint);
    await rig.call();
    await rig.call();
    expect(endpoint.calls).toHaveLength(1);
  });

  test('no longer than the token that they were made from', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const rig = await gateway(endpoint);
    const now = Math.floor(Date.now() / 1000);
    const ending = new UnsecuredJWT({ exp: now + 10 }).encode();
    const lasting = new UnsecuredJWT({ exp: now + 1000 }).encode();
    for (const token of [ending, ending, lasting, lasting]) await rig.call(token);
    expect(endpoint.calls).toHaveLength(3);
  });

  test('never with `maxEntries: 0`', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const rig = await gateway(endpoint, 'cache: {maxEntries: 0}');
    await Promise.all([rig.call(), rig.call()]);
    expect(endpoint.calls).toHaveLength(2);
  });

  test('and the oldest is forgotten when there are too many', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const rig = await gateway(endpoint, 'cache: {maxEntries: 1}');
    for (const caller of ['a', 'b', 'a']) await rig.call(caller);
    expect(endpoint.calls).toHaveLength(3);
  });

  test('over a reload that leaves the policy as it is, and not over one that changes it', async () => {
    const endpoint = await tokenEndpoint(cleanup);
    const seen: (string | undefined)[] = [];
    const backend = cleanup.add(
      await upstream((request, response) => {
        seen.push(request.headers.authorization);
        response.end();
      }),
    );
    const ports = { backend: backend.port, endpoint: endpoint.port };
    const running = cleanup.add(await startGateway(config(ports, '')));
    const call = () => ask(running.port(80), '/', { headers: { authorization: `Bearer ${SUBJECT}` } });
    await call();
    await running.reload(
      `${config(ports, '')}\n- {name: more, matches: [{path: {exact: /more}}], policies: {directResponse: {status: 200}}}\n`,
    );
    await call();
    expect(endpoint.calls).toHaveLength(1);
    await running.reload(config(ports, 'scopes: [more]'));
    await call();
    expect(seen).toEqual(['Bearer token-1', 'Bearer token-1', 'Bearer token-2']);
  });
});

describe('settings that make no sense', () => {
  test.each([
    ['no endpoint', '{oauthTokenExchange: {}}', 'the service needs exactly one of'],
    ['two endpoints', '{oauthTokenExchange: {host: "a:1", backend: b}}', 'takes only one of'],
    [
      'a reserved parameter',
      '{oauthTokenExchange: {host: "a:1", additionalParams: {scope: "\'x\'"}}}',
      'scope is set by the gateway',
    ],
    [
      'an actor for an assertion',
      '{oauthTokenExchange: {host: "a:1", grantType: jwtBearer, actorToken: {source: {header: {name: a}}}}}',
      'has no meaning with `grantType: jwtBearer`',
    ],
    [
      'claims of an opaque actor',
      '{oauthTokenExchange: {host: "a:1", actorToken: {source: {header: {name: a}}, enforceMayAct: true}}}',
      'reads claims',
    ],
    [
      'an assertion of another grant',
      '{oauthTokenExchange: {host: "a:1", requestedTokenType: "urn:ietf:params:oauth:token-type:id-jag"}}',
      'is what `crossAppAccess` uses',
    ],
    [
      'no secret',
      '{oauthTokenExchange: {host: "a:1", clientAuth: {clientId: a}}}',
      '`clientSecretBasic` needs `clientSecret`',
    ],
    [
      'an expression that is none',
      '{oauthTokenExchange: {host: "a:1", additionalParams: {a: "1 +"}}}',
      'additionalParams',
    ],
    [
      'no client',
      '{crossAppAccess: {audience: a, identityProvider: {host: "a:1"}, resourceAuthorizationServer: {host: "a:1"}}}',
      'clientAuth',
    ],
  ])('(%s) are refused', async (_name, auth, message) => {
    const text = `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "a:1", policies: {backendAuth: ${auth}}}]}]\n`;
    await expect(startGateway(text)).rejects.toThrow(message);
  });
});
