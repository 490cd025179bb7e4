/** Responses whose bodies are read before their heads go out: nobody waits for ever, and nothing stays open. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, RawClient, tcpUpstream } from './clients.ts';
import { ask, Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n';

async function held(policies: string, { drips = false }: { drips?: boolean } = {}) {
  const backend = cleanup.add(
    await tcpUpstream((socket) => {
      socket.once('data', () => {
        socket.write(`${HEAD}abc`);
        if (!drips) return;
        const timer = setInterval(() => socket.write('d'), 10);
        socket.on('close', () => clearInterval(timer));
      });
    }),
  );
  const running = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
frontendPolicies: {http: {streamIdleTimeout: 100ms}}
routes: [{backends: [{host: "127.0.0.1:${backend.port}"}], policies: {${policies}}}]
`),
  );
  return { backend, running, port: running.port(80) };
}

const holding = [
  ['an expression', `transformations: {response: {set: {x-size: 'string(size(response.body))'}}}`],
  ['a buffer', 'buffer: {response: {}}'],
] as const;

describe.each(holding)('a response that is held for %s', (_name, policy) => {
  test('is given up when the upstream stops sending', async () => {
    const { backend, running, port } = await held(policy);
    const answer = await ask(port, '/');
    expect([answer.status, answer.headers['x-gw-reason'], answer.body]).toEqual([
      504,
      'Timeout',
      'response body not received in time',
    ]);
    await running.logged('http.status=504', 'reason=Timeout');
    await eventually('the upstream is left', () => backend.sockets.size === 0);
  });

  test('is given up at the deadline of the request, however the upstream drips', async () => {
    const { backend, port } = await held(`${policy}, timeout: {requestTimeout: 200ms}`, { drips: true });
    const answer = await ask(port, '/');
    expect([answer.status, answer.headers['x-gw-reason'], answer.body]).toEqual([504, 'Timeout', 'request timeout']);
    await eventually('the upstream is left', () => backend.sockets.size === 0);
  });

  test('is given up when the client leaves', async () => {
    const { backend, port } = await held(policy, { drips: true });
    const client = new RawClient(port).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await eventually('the backend is called', () => backend.sockets.size === 1);
    client.close();
    await eventually('the upstream is left', () => backend.sockets.size === 0);
  });
});
