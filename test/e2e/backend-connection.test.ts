import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, fixture, fixturePath, tcpUpstream } from './clients.ts';
import { type Answer, ask, Cleanup, echo, startGateway, upstream } from './gateway.ts';
import { okAnswer } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

async function gateway(host: string, policies: string) {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "${host}", policies: {${policies}}}]}]\n`,
    ),
  );
  return { ...running, http: running.port(80) };
}

async function https(options: ServerOptions): Promise<number> {
  const server = createHttpsServer({ cert: fixture('a.crt'), key: fixture('a.key'), ...options }, echo);
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanup.add({
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
  // `as`: a TCP server that listens has an address with a port.
  return (server.address() as AddressInfo).port;
}

const ROOT = `root: ${fixturePath('ca.crt')}, hostname: a.example.com`;

/** Asks a backend that agrees on one group of key exchange only. */
async function agreeing(group: string, groups: string | null): Promise<Answer> {
  const port = await https({ ecdhCurve: group, minVersion: 'TLSv1.3' });
  const running = await gateway(
    `127.0.0.1:${port}`,
    `backendTLS: {${ROOT}${groups === null ? '' : `, keyExchangeGroups: [${groups}]`}}`,
  );
  return ask(running.http, '/');
}

describe('the key exchange with a backend', () => {
  test.each([
    ['X25519', 'X25519'],
    ['P-256', 'P-256'],
    ['P-384', 'P-384'],
    ['X25519MLKEM768', 'X25519_MLKEM768'],
  ])('happens over %s when it is the only one of the list', async (group, name) => {
    expect((await agreeing(group, name)).status).toBe(200);
  });

  test.each(['X25519', 'P-256', 'P-384', 'X25519MLKEM768'])('happens over %s without a list', async (group) => {
    expect((await agreeing(group, null)).status).toBe(200);
  });

  test.each([
    ['X25519MLKEM768', 'X25519, P-256, P-384'],
    ['X25519', 'X25519_MLKEM768'],
    ['P-256', 'P-384'],
  ])('fails with a backend that wants %s when the list is %s', async (group, names) => {
    const answer = await agreeing(group, names);
    expect(answer.status).toBe(503);
    expect(answer.body).toMatch(/^upstream call failed: TLS handshake failed/);
  });
});

describe('a client certificate that the backend wants', () => {
  const wanting = () => https({ ca: fixture('client-ca.crt'), requestCert: true, rejectUnauthorized: true });

  test('is shown', async () => {
    const pair = `cert: ${fixturePath('client.crt')}, key: ${fixturePath('client.key')}`;
    const running = await gateway(`127.0.0.1:${await wanting()}`, `backendTLS: {${ROOT}, ${pair}}`);
    expect((await ask(running.http, '/')).status).toBe(200);
  });

  test.each([
    ['missing', ''],
    ['one of a stranger', `, cert: ${fixturePath('stranger.crt')}, key: ${fixturePath('stranger.key')}`],
  ])('fails the call when it is %s', async (_name, pair) => {
    const running = await gateway(`127.0.0.1:${await wanting()}`, `backendTLS: {${ROOT}${pair}}`);
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.headers['x-gw-reason']]).toEqual([503, 'UpstreamFailure']);
  });
});

describe('the connect timeout', () => {
  test('ends a connection that the other side never takes', async () => {
    const port = await deafPort();
    const running = await gateway(`127.0.0.1:${port}`, 'tcp: {connectTimeout: 80ms}');
    const startedAt = performance.now();
    const answer = await ask(running.http, '/');
    expect([answer.status, answer.body]).toEqual([504, 'upstream call timeout']);
    // Well below the ten seconds that hold without the policy.
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test('does not cut calls that take longer on an open connection', async () => {
    const backend = cleanup.add(
      await tcpUpstream((socket) => socket.on('data', () => setTimeout(() => socket.write(okAnswer()), 120))),
    );
    const running = await gateway(`127.0.0.1:${backend.port}`, 'tcp: {connectTimeout: 60ms}');
    expect((await ask(running.http, '/')).status).toBe(200);
  });
});

describe('the timeout of a call', () => {
  test('ends the wait for a response head', async () => {
    const backend = cleanup.add(await tcpUpstream((socket) => socket.resume()));
    const running = await gateway(`127.0.0.1:${backend.port}`, 'http: {requestTimeout: 60ms}');
    expect((await ask(running.http, '/')).status).toBe(504);
    await eventually('the call is given up', () => backend.sockets.size === 0);
  });

  test('does not end a body that takes longer', async () => {
    const backend = cleanup.add(
      await upstream((_request, response) => {
        response.write('slow');
        setTimeout(() => response.end('ly'), 150);
      }),
    );
    const running = await gateway(`127.0.0.1:${backend.port}`, 'http: {requestTimeout: 80ms}');
    expect((await ask(running.http, '/')).body).toBe('slowly');
  });
});

const onLinux = process.platform === 'linux' ? describe : describe.skip;

onLinux('keep-alive probes', () => {
  async function timerOf(policies: string): Promise<{ kind: number; seconds: number }> {
    const backend = cleanup.add(await upstream(echo));
    let peer = 0;
    backend.server.on('connection', (socket: Socket) => (peer = socket.remotePort ?? 0));
    const running = await gateway(`127.0.0.1:${backend.port}`, policies);
    expect((await ask(running.http, '/')).status).toBe(200);
    return timerOfSocket(peer, backend.port);
  }

  test('begin after the time of the policy', async () => {
    const { kind, seconds } = await timerOf('tcp: {keepalives: {time: 77s, interval: 3s, retries: 2}}');
    expect(kind).toBe(KEEPALIVE_TIMER);
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(78);
  });

  test('begin after three minutes without a policy', async () => {
    const { kind, seconds } = await timerOf('');
    expect(kind).toBe(KEEPALIVE_TIMER);
    expect(seconds).toBeGreaterThan(160);
  });

  test('can be turned off', async () => {
    expect((await timerOf('tcp: {keepalives: {enabled: false}}')).kind).toBe(0);
  });
});

/** In the kernel's table of sockets. */
const KEEPALIVE_TIMER = 2;

/** The timer of a connection, which the kernel counts in ticks of a hundredth of a second. */
async function timerOfSocket(local: number, remote: number): Promise<{ kind: number; seconds: number }> {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  let found = { kind: -1, seconds: 0 };
  await eventually('nothing waits to be acknowledged', () => {
    const line = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((each) => each.trim().split(/\s+/))
      .find((each) => each[1]?.endsWith(`:${hex(local)}`) === true && each[2]?.endsWith(`:${hex(remote)}`) === true);
    const [kind = '', ticks = ''] = line?.[5]?.split(':') ?? [];
    found = { kind: Number.parseInt(kind, 16), seconds: Number.parseInt(ticks, 16) / 100 };
    return found.kind === 0 || found.kind === KEEPALIVE_TIMER;
  });
  return found;
}

const DEAF = `
const server = require('node:net').createServer();
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  process.stdout.write(String(server.address().port) + '\\n', () => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });
});`;

/** A port whose owner accepts nothing, with the queue for new connections full. */
async function deafPort(): Promise<number> {
  const child = spawn(process.execPath, ['-e', DEAF], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanup.add({ close: () => child.kill('SIGKILL') });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(chunk.toString());
  for (let tries = 0; tries < 20; tries++) {
    const filler = connect({ port, host: '127.0.0.1' });
    cleanup.add({ close: () => filler.destroy() });
    filler.on('error', () => {});
    const taken = await Promise.race([
      once(filler, 'connect').then(() => true),
      new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 200)),
    ]);
    if (!taken) return port;
  }
  throw new Error('the queue is never full');
}
