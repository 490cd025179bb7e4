import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { fixture, fixturePath } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { tokenEndpoint } from './token-endpoint.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function call(text: (ports: { backend: number; endpoint: number }) => string) {
  const endpoint = await tokenEndpoint(cleanup);
  const backend = cleanup.add(await upstream((request, response) => response.end(request.headers.authorization)));
  const running = cleanup.add(await startGateway(text({ backend: backend.port, endpoint: endpoint.port })));
  const answer = await ask(running.port(80), '/', { headers: { authorization: 'Bearer mine' } });
  return { answer, endpoint, running };
}

const exchange = (port: number): string => `{oauthTokenExchange: {host: "127.0.0.1:${port}"}}`;

describe('an exchange of tokens stands', () => {
  test.each([
    [
      'on a route',
      ({ backend, endpoint }: { backend: number; endpoint: number }) => `
routes: [{policies: {backendAuth: ${exchange(endpoint)}}, backends: [{host: "127.0.0.1:${backend}"}]}]`,
    ],
    [
      'on a named backend',
      ({ backend, endpoint }: { backend: number; endpoint: number }) => `
routes: [{backends: [{backend: b}]}]
backends: [{name: b, host: "127.0.0.1:${backend}", policies: {backendAuth: ${exchange(endpoint)}}}]`,
    ],
    [
      'in the list of policies',
      ({ backend, endpoint }: { backend: number; endpoint: number }) => `
routes: [{name: r, backends: [{host: "127.0.0.1:${backend}"}]}]
policies:
- name: {name: p, namespace: default}
  target: {route: {name: r, namespace: default}}
  policy: {backendAuth: ${exchange(endpoint)}}`,
    ],
    [
      'with a named backend as its endpoint',
      ({ backend, endpoint }: { backend: number; endpoint: number }) => `
routes: [{policies: {backendAuth: {oauthTokenExchange: {backend: as}}}, backends: [{host: "127.0.0.1:${backend}"}]}]
backends: [{name: as, host: "127.0.0.1:${endpoint}"}]`,
    ],
  ])('%s', async (_name, text) => {
    const { answer } = await call((ports) => `gateways: {default: {port: 80}}${text(ports)}\n`);
    expect([answer.status, answer.body]).toEqual([200, 'Bearer token-1']);
  });
});

describe('a token endpoint behind TLS', () => {
  async function secured(policies: string) {
    const server = createServer({ cert: fixture('a.crt'), key: fixture('a.key') }, (_request, response) =>
      response.end(JSON.stringify({ access_token: 'over-tls', token_type: 'Bearer' })),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add({ close: () => (server.closeAllConnections(), server.close()) });
    // `as`: a TCP server that listens has an address with a port.
    const { port } = server.address() as AddressInfo;
    return call(
      ({ backend }) => `
gateways: {default: {port: 80}}
routes:
- backends:
  - host: "127.0.0.1:${backend}"
    policies: {backendAuth: {oauthTokenExchange: {host: "127.0.0.1:${port}", policies: {backendTLS: ${policies}}}}}
`,
    );
  }

  test('is asked when its certificate is trusted', async () => {
    const { answer } = await secured(`{root: {file: ${fixturePath('ca.crt')}}, hostname: a.example.com}`);
    expect([answer.status, answer.body]).toEqual([200, 'Bearer over-tls']);
  });

  test('is told nothing when its certificate is not', async () => {
    const { answer, running } = await secured('{hostname: a.example.com}');
    expect([answer.status, answer.body]).toEqual([
      500,
      'backend authentication failed: the token endpoint gives no answer',
    ]);
    await running.logged('backend-auth', 'certificate');
  });
});
