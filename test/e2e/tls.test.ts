import { once } from 'node:events';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import tls, { type ConnectionOptions, type TLSSocket } from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import { fixture, fixturePath, Http2Client, RawClient, run, tcpUpstream, withCurl } from './clients.ts';
import { ask, Cleanup, echo, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

function certificate(name: string, more = ''): string {
  return `{cert: ${fixturePath(`${name}.crt`)}, key: ${fixturePath(`${name}.key`)}${more}}`;
}

/** Listeners for two names, a wildcard and mutual TLS, all on one port; answers tell which of them it was. */
const LISTENERS = `
gateways:
  default:
    port: 443
    listeners:
    - {name: a, hostname: a.example.com, protocol: HTTPS, tls: ${certificate('a')}}
    - {name: b, hostname: b.example.com, protocol: HTTPS, tls: ${certificate('b')}}
    - {name: wild, hostname: "*.wild.example.com", protocol: HTTPS, tls: ${certificate('wildcard')}}
    - {name: mutual, hostname: mutual.wild.example.com, protocol: HTTPS, tls: ${certificate('wildcard', `, root: ${fixturePath('client-ca.crt')}`)}}
routes:
- {gateways: default/a, name: to-a, policies: {directResponse: {status: 200, body: a}}}
- {gateways: default/b, name: to-b, policies: {directResponse: {status: 200, body: b}}}
- {gateways: default/wild, name: to-wild, policies: {directResponse: {status: 200, body: wild}}}
- {gateways: default/mutual, name: to-mutual, policies: {directResponse: {status: 200, body: mutual}}}
`;

async function listeners() {
  const running = cleanup.add(await startGateway(LISTENERS));
  return { ...running, port: running.port(443) };
}

async function handshake(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  const socket = tls.connect({ host: '127.0.0.1', port, ca: fixture('ca.crt'), ...options });
  cleanup.add({ close: () => socket.destroy() });
  await once(socket, 'secureConnect');
  socket.on('error', () => {});
  return socket;
}

/** One request on a TLS connection; resolves with everything that comes until the server closes it. */
async function request(socket: TLSSocket, host: string): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  return text;
}

describe('several certificates on one port', () => {
  test.each([
    ['a.example.com', 'a.example.com', 'a'],
    ['b.example.com', 'b.example.com', 'b'],
    ['one.wild.example.com', '*.wild.example.com', 'wild'],
  ])('%s gets its own, and its own listener', async (name, subject, body) => {
    const { port, logged } = await listeners();
    const socket = await handshake(port, { servername: name });
    expect(socket.getPeerCertificate().subject.CN).toBe(subject);
    expect(await request(socket, name)).toMatch(new RegExp(`^HTTP/1.1 200 [^]*\r\n\r\n${body}$`));
    await logged('http.status=200', `http.host=${name}`, `listener=default/${body}`);
  });

  test.each([['stranger.example.com'], ['wild.example.com'], [undefined]])(
    'a handshake for %s is refused with an alert',
    async (servername) => {
      const { port, admin } = await listeners();
      const socket = tls.connect({
        host: '127.0.0.1',
        port,
        rejectUnauthorized: false,
        ...(servername && { servername }),
      });
      const [error] = await once(socket, 'error').catch((thrown: unknown) => [thrown]);
      expect(String(error)).toMatch(/unrecognized.name/i);
      expect((await fetch(`${admin}/config_status`)).status).toBe(200);
    },
  );

  test('a request for another listener is misdirected, over either version', async () => {
    const { port, logged } = await listeners();
    const socket = await handshake(port, { servername: 'a.example.com' });
    expect(await request(socket, 'b.example.com')).toMatch(/^HTTP\/1\.1 421 [^]*misdirected request$/);
    const client = cleanup.add(
      await Http2Client.connect(`https://127.0.0.1:${port}`, { servername: 'a.example.com', ca: fixture('ca.crt') }),
    );
    expect((await client.ask({ ':path': '/', ':authority': 'b.example.com' })).status).toBe(421);
    expect((await client.ask({ ':path': '/', ':authority': 'a.example.com' })).status).toBe(200);
    await logged('http.status=421', 'reason=InvalidRequest', 'misdirected request');
  });

  test('a request for a host that nothing here serves is not found', async () => {
    const { port } = await listeners();
    const socket = await handshake(port, { servername: 'a.example.com' });
    expect(await request(socket, 'nobody.test')).toMatch(/^HTTP\/1\.1 404 [^]*listener not found$/);
  });

  test('plain HTTP on the port is told so', async () => {
    const { port } = await listeners();
    const client = new RawClient(port).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.closed;
    expect(client.text).toMatch(/^HTTP\/1\.0 400 [^]*HTTPS/);
  });
});

describe('mutual TLS', () => {
  const name = 'mutual.wild.example.com';
  const identity = { cert: fixture('client.crt'), key: fixture('client.key') };

  test('knows the client by its certificate', async () => {
    const { port, logged } = await listeners();
    const socket = await handshake(port, { servername: name, ...identity });
    expect(await request(socket, name)).toMatch(/mutual$/);
    await logged('listener=default/mutual', 'src.identity=shop/checkout');
  });

  test.each([
    ['without a certificate', {}],
    ['with one of a stranger', { cert: fixture('stranger.crt'), key: fixture('stranger.key') }],
  ])('refuses a client %s', async (_name, options) => {
    const { port, log } = await listeners();
    const socket = tls.connect({ host: '127.0.0.1', port, ca: fixture('ca.crt'), servername: name, ...options });
    socket.on('secureConnect', () => socket.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`));
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.on('error', () => {});
    await new Promise((resolve) => socket.on('close', resolve));
    expect(received).toBe('');
    expect(log.filter((line) => line.includes('http.status'))).toEqual([]);
  });

  test('asks nobody on the other listeners of the port', async () => {
    const { port } = await listeners();
    const socket = await handshake(port, { servername: 'other.wild.example.com' });
    expect(await request(socket, 'other.wild.example.com')).toMatch(/wild$/);
  });

  test('is not got around over a connection to another listener', async () => {
    const { port } = await listeners();
    const socket = await handshake(port, { servername: 'other.wild.example.com' });
    expect(await request(socket, name)).toMatch(/^HTTP\/1\.1 421 /);
  });

  withCurl('with curl', () => {
    test('works', async () => {
      const { port } = await listeners();
      const flags = ['-s', '--cacert', fixturePath('ca.crt'), '--resolve', `${name}:${port}:127.0.0.1`];
      const own = ['--cert', fixturePath('client.crt'), '--key', fixturePath('client.key')];
      expect((await run('curl', [...flags, ...own, `https://${name}:${port}/`])).stdout).toBe('mutual');
      expect((await run('curl', [...flags, `https://${name}:${port}/`])).code).not.toBe(0);
    });
  });
});

test.each([
  ['maxTLSVersion: TLS_V1_2', { minVersion: 'TLSv1.3' as const }, /version/i],
  ['maxTLSVersion: TLS_V1_2', {}, /^TLSv1.2$/],
  ['minTLSVersion: TLS_V1_3', { maxVersion: 'TLSv1.2' as const }, /version/i],
  ['minTLSVersion: TLS_V1_3', {}, /^TLSv1.3$/],
])('a listener with %s speaks to a client with %o as %s', async (limit, options, version) => {
  const { port } = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 443, tls: ${certificate('a', `, ${limit}`)}}}\nroutes: [{policies: {directResponse: {status: 200}}}]`,
    ),
  );
  const spoken = await handshake(port(443), { servername: 'a.example.com', ...options }).then(
    (socket) => socket.getProtocol(),
    (error: Error) => error.message,
  );
  expect(spoken).toMatch(version);
});

describe('TLS towards a backend', () => {
  /** An HTTPS server with the certificate of `a.example.com`; `mutual` wants one from its clients. */
  async function server(options: { mutual?: boolean } = {}) {
    const seen: { servername: unknown; client: unknown }[] = [];
    const https = createHttpsServer(
      {
        cert: fixture('a.crt'),
        key: fixture('a.key'),
        ...(options.mutual === true
          ? { ca: fixture('client-ca.crt'), requestCert: true, rejectUnauthorized: true }
          : {}),
      },
      (incoming, response) => {
        // `as`: a server for TLS hands out TLS sockets.
        const socket = incoming.socket as TLSSocket & { servername?: unknown };
        seen.push({ servername: socket.servername, client: socket.getPeerCertificate()?.subject?.CN });
        echo(incoming, response);
      },
    );
    https.on('tlsClientError', () => {});
    https.listen(0, '127.0.0.1');
    await once(https, 'listening');
    cleanup.add({ close: () => (https.closeAllConnections(), new Promise((resolve) => https.close(resolve))) });
    // `as`: a TCP server that listens has an address with a port.
    return { port: (https.address() as AddressInfo).port, seen };
  }

  async function answer(port: number, backendTls: string) {
    const running = cleanup.add(
      await startGateway(
        `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${port}", policies: {backendTLS: ${backendTls}}}]}]`,
      ),
    );
    return ask(running.port(80), '/');
  }

  const root = `root: ${fixturePath('ca.crt')}`;

  test('verifies chain and name', async () => {
    const { port, seen } = await server();
    expect((await answer(port, `{${root}, hostname: a.example.com}`)).status).toBe(200);
    expect(seen).toMatchObject([{ servername: 'a.example.com' }]);
  });

  test.each([
    ['its chain is not known', '{hostname: a.example.com}', /unable to|self.signed|certificate/i],
    ['it has another name', `{${root}, hostname: b.example.com}`, /b\.example\.com|name/i],
    ['the address is not in it', `{${root}}`, /127\.0\.0\.1|name/i],
    ['the alternative names do not fit', `{${root}, subjectAltNames: ["spiffe://a/ns/b/sa/c"]}`, /name|certificate/i],
  ])('refuses a certificate when %s', async (_name, backendTls, message) => {
    const { port, seen } = await server();
    const refused = await answer(port, backendTls);
    expect(refused).toMatchObject({ status: 503, headers: { 'x-gw-reason': 'UpstreamFailure' } });
    expect(refused.body).toMatch(/^upstream call failed: /);
    expect(refused.body).toMatch(message);
    expect(seen).toEqual([]);
  });

  test.each([
    ['insecure verifies nothing', '{insecure: true}', 200],
    ['insecureHost verifies the chain alone', `{${root}, insecureHost: true}`, 200],
    ['insecureHost still wants the chain', '{insecureHost: true}', 503],
    ['subjectAltNames replace the name', `{${root}, subjectAltNames: [a.example.com]}`, 200],
  ])('%s', async (_name, backendTls, status) => {
    const { port } = await server();
    expect((await answer(port, backendTls)).status).toBe(status);
  });

  test('shows its own certificate to a backend that asks for one', async () => {
    const { port, seen } = await server({ mutual: true });
    const own = `cert: ${fixturePath('client.crt')}, key: ${fixturePath('client.key')}`;
    expect((await answer(port, `{${root}, hostname: a.example.com, ${own}}`)).status).toBe(200);
    expect(seen).toMatchObject([{ client: 'checkout' }]);
    expect(await answer(port, `{${root}, hostname: a.example.com}`)).toMatchObject({ status: 503 });
  });

  test('towards a server that speaks none is told as 503', async () => {
    const { port } = cleanup.add(await tcpUpstream((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')));
    expect(await answer(port, '{insecure: true}')).toMatchObject({ status: 503 });
  });
});
