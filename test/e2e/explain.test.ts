import { afterEach, describe, expect, test } from '@jest/globals';

import type { Explanation, ExplainQuestion } from '../../src/admin/protocol/explanation.ts';
import { tcpUpstream } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function start(text: string, threads?: number) {
  const running = cleanup.add(await startGateway(text, threads === undefined ? {} : { threads }));
  const post = (question: unknown) =>
    fetch(`${running.admin}/debug/explain`, {
      method: 'POST',
      body: typeof question === 'string' ? question : JSON.stringify(question),
    });
  return {
    ...running,
    post,
    explain: async (target: string, more: Partial<ExplainQuestion> = {}): Promise<Explanation> => {
      const answer = await post({ ...QUESTION, target, ...more });
      if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
      // `as`: the endpoint writes what the protocol says.
      return (await answer.json()) as Explanation;
    },
  };
}

const QUESTION = { method: 'GET', scheme: 'http', authority: 'shop.test', target: '/', headers: [] };

/** A server that counts who comes. */
async function counted() {
  const server = cleanup.add(await tcpUpstream((socket) => socket.destroy()));
  return { address: `127.0.0.1:${server.port}`, opened: server.opened };
}

describe('/debug/explain', () => {
  test('calls nobody: no backend, no mirror, no service, no provider of credentials', async () => {
    const server = await counted();
    const { address } = server;
    const gateway = await start(`
frontendPolicies: {networkExtAuthz: {host: "${address}", protocol: {http: {}}}}
gateways: {default: {port: 80}}
routes:
- matches: [{path: {pathPrefix: /a}}]
  policies:
    extAuthz: {host: "${address}", protocol: {http: {}}}
    remoteRateLimit: {host: "${address}", domain: d, descriptors: [{entries: [{key: k, value: '"v"'}]}]}
    extProc: {host: "${address}"}
    requestMirror: {backend: {host: "${address}"}, percentage: 1}
    retry: {attempts: 2, codes: [503]}
  backends:
  - host: "${address}"
    policies: {extAuthz: {host: "${address}"}, backendAuth: {oauthTokenExchange: {host: "${address}"}}}
- {matches: [{path: {exact: /grpc}}], policies: {extAuthz: {host: "${address}"}}, backends: [{host: "${address}", policies: {http: {version: HTTP/2.0}}}]}
`);
    const kinds = (explanation: Explanation) =>
      explanation.policies.filter(({ outcome }) => outcome === 'notAsked').map(({ kind, on }) => `${on} ${kind}`);
    const explained = await gateway.explain('/a', {
      method: 'POST',
      headers: [['authorization', 'Bearer x']],
      body: Buffer.from('hello').toString('base64'),
    });
    expect(kinds(explained)).toEqual([
      'connection network_ext_auth',
      'request ext_auth',
      'request remote_rate_limit',
      'request ext_proc',
      'request ext_auth',
      'request backend_auth',
    ]);
    expect(explained.answer.by).toBe('backend');
    expect(explained.backend?.endpoint).toBe(address);
    expect(kinds(await gateway.explain('/grpc'))).toContain('request ext_auth');
    expect(server.opened()).toBe(0);
    // The same requests in earnest do come: the server is one that would have been found.
    await ask(gateway.port(80), '/a').catch(() => {});
    expect(server.opened()).toBeGreaterThan(0);
  });

  test('sees what is left of a budget, and takes nothing of it', async () => {
    const gateway = await start(
      `
gateways: {default: {port: 80}}
routes: [{policies: {localRateLimit: [{maxTokens: 3, tokensPerFill: 3, fillInterval: 1h}], directResponse: {status: 200}}}]
`,
      2,
    );
    const left = async () => (await gateway.explain('/')).policies[0]?.details;
    expect(await left()).toContain('2 of 3 left');
    expect(await left()).toContain('2 of 3 left');
    for (let i = 0; i < 3; i++) expect((await ask(gateway.port(80), '/')).status).toBe(200);
    const refused = await gateway.explain('/');
    expect(refused.answer).toMatchObject({ by: 'gateway', status: 429, reason: 'RateLimit' });
    expect(refused.policies[0]).toMatchObject({ outcome: 'denied' });
    expect((await ask(gateway.port(80), '/')).status).toBe(429);
  });

  test('answers for what is live, also after a reload', async () => {
    const config = (status: number) =>
      `gateways: {default: {port: 80}}\nroutes: [{policies: {directResponse: {status: ${status}}}}]`;
    const gateway = await start(config(200));
    expect((await gateway.explain('/')).answer.status).toBe(200);
    await gateway.reload(config(204));
    expect((await gateway.explain('/')).answer.status).toBe(204);
    await gateway.reload('gateways: {default: {port: 80}}\nroutes: [{nonsense: 1}]');
    expect((await gateway.explain('/')).answer.status).toBe(204);
  });

  test('says what it would say to a request: the same status and reason', async () => {
    const gateway = await start(`
gateways: {default: {port: 80, authorization: {rules: [{deny: '"x-bad" in request.headers'}]}}}
routes:
- {matches: [{path: {exact: /key}}], policies: {apiKey: {keys: [{key: k1}]}, directResponse: {status: 200}}}
- {matches: [{path: {exact: /csrf}}], policies: {csrf: {}, directResponse: {status: 200}}}
- {matches: [{path: {exact: /buffer}}], policies: {buffer: {request: {maxBytes: 2}}, directResponse: {status: 200}}}
- {matches: [{path: {exact: /none}}]}
- {matches: [{path: {exact: /away}}], policies: {requestRedirect: {scheme: https, status: 307}}}
`);
    const cases: readonly [string, string, Record<string, string>][] = [
      ['GET', '/key', {}],
      ['GET', '/key', { authorization: 'Bearer k1' }],
      ['GET', '/key', { 'x-bad': '1' }],
      ['POST', '/csrf', { origin: 'https://evil.test' }],
      ['POST', '/buffer', {}],
      ['GET', '/none', {}],
      ['GET', '/away', {}],
      ['GET', '/nowhere', {}],
    ];
    for (const [method, path, headers] of cases) {
      const real = await ask(gateway.port(80), path, {
        method,
        headers,
        ...(method === 'POST' ? { body: 'abc' } : {}),
      });
      const body = method === 'POST' ? Buffer.from('abc').toString('base64') : undefined;
      const { answer } = await gateway.explain(path, { method, headers: Object.entries(headers), body });
      expect([path, answer.status, answer.reason ?? undefined]).toEqual([
        path,
        real.status,
        real.headers['x-gw-reason'],
      ]);
    }
  });

  test.each([
    ['nonsense', 'the body is not JSON'],
    [[], 'expected an object'],
    [{ ...QUESTION, method: 'G T' }, 'method'],
    [{ ...QUESTION, target: 'nowhere' }, 'target'],
    [{ ...QUESTION, headers: [['a', 'b\r\nc: d']] }, 'headers'],
    [{ ...QUESTION, port: 9 }, 'nothing listens on port 9'],
    [{ ...QUESTION, source: 'x' }, 'is not an address'],
    [{ ...QUESTION, body: 7 }, 'body'],
  ])('refuses %j', async (question, message) => {
    const gateway = await start(
      'gateways: {default: {port: 80}}\nroutes: [{policies: {directResponse: {status: 200}}}]',
    );
    const answer = await gateway.post(question);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(message);
  });

  test('does not wait for keys of tokens that nobody has', async () => {
    const key = { kty: 'OKP', crv: 'Ed25519', kid: 'a', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' };
    let fetched = 0;
    const keys = await upstream((_request, response) => {
      fetched += 1;
      response.end(JSON.stringify({ keys: [key] }));
    });
    const { port } = cleanup.add(keys);
    const gateway = await start(`
gateways: {default: {port: 80}}
routes: [{policies: {jwtAuth: {issuer: a, audiences: [b], jwks: {url: "http://127.0.0.1:${port}/keys"}}, directResponse: {status: 200}}}]
`);
    const before = fetched;
    const token = [
      { alg: 'ES256', kid: 'unknown' },
      { iss: 'a', aud: 'b', exp: 9_999_999_999 },
    ]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const { answer } = await gateway.explain('/', { headers: [['authorization', `Bearer ${token}.AAAA`]] });
    expect(answer).toMatchObject({ status: 401, reason: 'JwtAuth' });
    expect(fetched).toBe(before);
  });
});
