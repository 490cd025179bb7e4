import { once } from 'node:events';
import net, { type Socket } from 'node:net';
import tls from 'node:tls';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, fixture, fixturePath, RawClient, run, tcpUpstream, withCurl } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A server that greets with its name and then sends back what it gets. */
async function greeter(name: string) {
  return cleanup.add(
    await tcpUpstream(
      (socket) => {
        socket.write(`${name}\n`);
        socket.pipe(socket);
      },
      { allowHalfOpen: true },
    ),
  );
}

async function gateway(text: string) {
  return cleanup.add(await startGateway(text));
}

function client(port: number, options: { allowHalfOpen?: boolean } = {}): RawClient {
  const raw = new RawClient(port, options);
  cleanup.add({ close: () => raw.socket.destroy() });
  return raw;
}

const TCP = 'gateways: {default: {port: 90, protocol: TCP}}';

describe('a TCP route', () => {
  test('copies both ways and leaves a record', async () => {
    const server = await greeter('hi');
    const { port, logged } = await gateway(
      `${TCP}\ntcpRoutes: [{name: db, backends: [{host: "127.0.0.1:${server.port}"}]}]`,
    );
    const raw = client(port(90));
    await raw.until((text) => text === 'hi\n');
    raw.write('ping');
    await raw.until((text) => text === 'hi\nping');
    raw.socket.end();
    await raw.closed;
    const line = await logged('protocol=tcp');
    expect(line).toMatch(
      /\trequest gateway=default\/default listener=\S+ route=default\/db .*src.addr=127.0.0.1:\d+ protocol=tcp duration=\d+ms$/,
    );
    expect(line).not.toMatch(/http\.|error|reason/);
  });

  test('keeps the other direction open when one has ended', async () => {
    const late = cleanup.add(
      await tcpUpstream((socket) => void socket.resume().on('end', () => socket.end('after your end')), {
        allowHalfOpen: true,
      }),
    );
    const { port } = await gateway(`${TCP}\ntcpRoutes: [{backends: [{host: "127.0.0.1:${late.port}"}]}]`);
    const raw = client(port(90), { allowHalfOpen: true });
    raw.socket.end('that was all').on('end', () => raw.socket.destroy());
    await raw.closed;
    expect(raw.text).toBe('after your end');
  });

  test('shares connections by weight', async () => {
    const [never, always] = [await greeter('never'), await greeter('always')];
    const { port } = await gateway(
      `${TCP}\ntcpRoutes: [{backends: [{host: "127.0.0.1:${never.port}", weight: 0}, {host: "127.0.0.1:${always.port}", weight: 2}]}]`,
    );
    for (let n = 0; n < 5; n++) await client(port(90)).until((text) => text === 'always\n');
    expect(never.opened()).toBe(0);
  });

  test('whose backend refuses closes the client and says why in the log', async () => {
    const { port, logged } = await gateway(`${TCP}\ntcpRoutes: [{backends: [{host: "127.0.0.1:1"}]}]`);
    const raw = client(port(90));
    await raw.closed;
    expect(raw.text).toBe('');
    expect(await logged('protocol=tcp')).toMatch(/error=".*(ECONNREFUSED|refused).*"/);
  });

  test('whose backend resets takes the client with it', async () => {
    const server = cleanup.add(await tcpUpstream((socket) => socket.once('data', () => socket.resetAndDestroy())));
    const { port, logged } = await gateway(`${TCP}\ntcpRoutes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]`);
    const raw = client(port(90)).write('x');
    await raw.closed;
    await logged('protocol=tcp', 'error="connection reset"');
  });

  test('whose backend wants a client certificate closes the client and says so in the log', async () => {
    const secure = tls.createServer({
      cert: fixture('a.crt'),
      key: fixture('a.key'),
      ca: fixture('client-ca.crt'),
      requestCert: true,
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    cleanup.add({ close: () => secure.close() });
    const address = secure.address();
    const backendPort = typeof address === 'object' && address !== null ? address.port : 0;
    const { port, logged } = await gateway(
      `${TCP}\ntcpRoutes: [{policies: {backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}}, backends: [{host: "127.0.0.1:${backendPort}"}]}]`,
    );
    await client(port(90)).closed;
    await logged('protocol=tcp', 'error="the backend requires a client certificate"');
  });

  test('without a backend closes', async () => {
    const { port } = await gateway(`${TCP}\ntcpRoutes: [{backends: []}]`);
    await client(port(90)).closed;
  });

  test('of a service picks a workload', async () => {
    const server = await greeter('workload');
    const { port } = await gateway(`${TCP}
tcpRoutes: [{backends: [{service: {name: shop/db.shop, port: 5432}}]}]
services: [{name: db, namespace: shop, hostname: db.shop, vips: [], ports: {5432: ${server.port}}}]
workloads: [{uid: w1, name: w1, namespace: shop, workloadIps: ["127.0.0.1"], services: {"shop/db.shop": {5432: ${server.port}}}}]`);
    await client(port(90)).until((text) => text === 'workload\n');
  });

  test('with backend TLS wraps what the client sends', async () => {
    const secure = tls.createServer({ cert: fixture('a.crt'), key: fixture('a.key') }, (socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    secure.listen(0, '127.0.0.1');
    await once(secure, 'listening');
    cleanup.add({ close: () => secure.close() });
    const address = secure.address();
    const backendPort = typeof address === 'object' && address !== null ? address.port : 0;
    const { port } = await gateway(
      `${TCP}\ntcpRoutes: [{policies: {backendTLS: {root: ${fixturePath('ca.crt')}, hostname: a.example.com}}, backends: [{host: "127.0.0.1:${backendPort}"}]}]`,
    );
    const raw = client(port(90)).write('in the clear');
    await raw.until((text) => text === 'in the clear');
    raw.socket.destroy();
  });

  test('holds a fast server back for a slow reader', async () => {
    let written = 0;
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        const chunk = Buffer.alloc(64 * 1024);
        const pump = (): void => {
          do written += chunk.length;
          while (socket.write(chunk) && written < 256 * 1024 * 1024);
        };
        socket.on('drain', pump);
        pump();
      }),
    );
    const { port } = await gateway(`${TCP}\ntcpRoutes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]`);
    const socket = net.connect(port(90), '127.0.0.1');
    cleanup.add({ close: () => socket.destroy() });
    await once(socket, 'connect');
    let before = -1;
    let calm = 0;
    await eventually('the server is held back', () => {
      calm = written === before && written > 0 ? calm + 1 : 0;
      before = written;
      return calm > 10;
    });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });
});

describe('a TLS listener', () => {
  async function tlsEcho(name: string) {
    const server = tls.createServer({ cert: fixture(`${name}.crt`), key: fixture(`${name}.key`) }, (socket) => {
      socket.on('error', () => {});
      socket.write(`${name}\n`);
      socket.pipe(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanup.add({ close: () => server.close() });
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async function secure(port: number, servername: string) {
    const socket = tls.connect({ host: '127.0.0.1', port, servername, ca: fixture('ca.crt') });
    cleanup.add({ close: () => socket.destroy() });
    await once(socket, 'secureConnect');
    return socket;
  }

  test('without certificates passes the handshake through to the backend of its name', async () => {
    const [a, b] = [await tlsEcho('a'), await tlsEcho('b')];
    const { port, logged } = await gateway(`
gateways: {default: {port: 443, protocol: TLS}}
tcpRoutes:
- {name: to-a, hostnames: [a.example.com], backends: [{host: "127.0.0.1:${a}"}]}
- {name: to-b, hostnames: ["*.example.com"], backends: [{host: "127.0.0.1:${b}"}]}`);
    for (const name of ['a', 'b']) {
      const socket = await secure(port(443), `${name}.example.com`);
      expect(socket.getPeerCertificate().subject.CN).toBe(`${name}.example.com`);
      expect(String((await once(socket, 'data'))[0])).toBe(`${name}\n`);
      socket.end();
    }
    await logged('protocol=tcp', 'tls.sni=a.example.com', 'route=default/to-a');
    await logged('protocol=tcp', 'tls.sni=b.example.com', 'route=default/to-b');
  });

  test('closes for a name that no route has', async () => {
    const { port } = await gateway(`
gateways: {default: {port: 443, protocol: TLS}}
tcpRoutes: [{hostnames: [a.example.com], backends: [{host: "127.0.0.1:1"}]}]`);
    await expect(secure(port(443), 'other.test')).rejects.toThrow();
  });

  test('with certificates ends TLS and copies what is inside', async () => {
    const server = await greeter('inside');
    const { port, logged } = await gateway(`
gateways: {default: {port: 443, protocol: TLS, tls: {cert: ${fixturePath('a.crt')}, key: ${fixturePath('a.key')}}}}
tcpRoutes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]`);
    const socket = await secure(port(443), 'a.example.com');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write('ping');
    await eventually('greeting and echo', () => text === 'inside\nping');
    socket.end();
    await logged('protocol=tcp', 'tls.sni=a.example.com');
  });
});

describe('a PROXY header', () => {
  const HTTP = 'gateways: {default: {port: 80}}\nroutes: [{backends: [{internal: /config_status}]}]';
  const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

  /** Version 2 for TCP over IPv4. */
  function version2(command: number): Buffer {
    const head = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
    const facts = Buffer.from([0x20 | command, 0x11, 0, 12, 203, 0, 113, 9, 192, 0, 2, 1, 0x10, 0x92, 0, 80]);
    return Buffer.concat([head, facts]);
  }

  test.each([
    ['v1', Buffer.from('PROXY TCP4 203.0.113.9 192.0.2.1 4242 80\r\n'), 'src.addr=203.0.113.9:4242'],
    ['v1', Buffer.from('PROXY TCP6 2001:db8::9 2001:db8::1 4242 80\r\n'), 'src.addr=[2001:db8::9]:4242'],
    ['v1', Buffer.from('PROXY UNKNOWN\r\n'), 'src.addr=127.0.0.1:'],
    ['v2', version2(1), 'src.addr=203.0.113.9:4242'],
    ['v2', version2(0), 'src.addr=127.0.0.1:'],
    ['all', version2(1), 'src.addr=203.0.113.9:4242'],
  ])('of version %s tells who the client is', async (version, header, source) => {
    const { port, logged } = await gateway(`${HTTP}\nfrontendPolicies: {proxyProtocol: {version: ${version}}}`);
    const raw = client(port(80)).write(Buffer.concat([header, Buffer.from(REQUEST)]));
    await raw.closed;
    expect(raw.text).toMatch(/^HTTP\/1.1 200 /);
    await logged(source, 'http.status=200');
  });

  test('reaches the backend as x-forwarded-for', async () => {
    const seen: Socket[] = [];
    let head = '';
    const server = cleanup.add(
      await tcpUpstream((socket) => {
        seen.push(socket);
        socket.on('data', (chunk: Buffer) => {
          head += chunk.toString();
          socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
        });
      }),
    );
    const { port } = await gateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${server.port}"}]}]\nfrontendPolicies: {proxyProtocol: {version: v2}}`,
    );
    const raw = client(port(80)).write(Buffer.concat([version2(1), Buffer.from(REQUEST)]));
    await raw.closed;
    expect(head).toMatch(/x-forwarded-for: 203\.0\.113\.9\r\n/);
  });

  test.each([
    ['absent in strict mode', '{version: all}', Buffer.from(REQUEST)],
    ['of the other version', '{version: v1}', version2(1)],
    ['broken', '{version: v1, mode: optional}', Buffer.from('PROXY TCP4 nonsense\r\n')],
    ['endless', '{version: v1}', Buffer.from(`PROXY TCP4 ${'1'.repeat(200)}`)],
  ])('that is %s closes the connection without a word', async (_name, policy, bytes) => {
    const { port, log } = await gateway(`${HTTP}\nfrontendPolicies: {proxyProtocol: ${policy}}`);
    const raw = client(port(80)).write(bytes);
    await raw.closed;
    expect(raw.text).toBe('');
    expect(log.join('\n')).not.toContain('http.status');
  });

  test('may be left out in optional mode', async () => {
    const { port } = await gateway(`${HTTP}\nfrontendPolicies: {proxyProtocol: {version: all, mode: optional}}`);
    const raw = client(port(80)).write(REQUEST);
    await raw.closed;
    expect(raw.text).toMatch(/^HTTP\/1.1 200 /);
  });

  test('comes before TLS', async () => {
    const { port, logged } = await gateway(`
gateways: {default: {port: 443, tls: {cert: ${fixturePath('a.crt')}, key: ${fixturePath('a.key')}}}}
routes: [{policies: {directResponse: {status: 200, body: behind both}}}]
frontendPolicies: {proxyProtocol: {version: v1}}`);
    const plain = net.connect(port(443), '127.0.0.1');
    plain.write('PROXY TCP4 203.0.113.9 192.0.2.1 4242 443\r\n');
    const socket = tls.connect({ socket: plain, servername: 'a.example.com', ca: fixture('ca.crt') });
    cleanup.add({ close: () => socket.destroy() });
    socket.write(REQUEST.replace('Host: a', 'Host: a.example.com'));
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1.1 200 /);
    await logged('src.addr=203.0.113.9:4242');
  });

  withCurl('with curl', () => {
    test('is spoken by curl', async () => {
      const { port, logged } = await gateway(`${HTTP}\nfrontendPolicies: {proxyProtocol: {version: v1}}`);
      const ran = await run('curl', [
        '-s',
        '--haproxy-protocol',
        '-o',
        '/dev/null',
        '-w',
        '%{http_code}',
        `http://127.0.0.1:${port(80)}/`,
      ]);
      expect(ran.stdout).toBe('200');
      await logged('http.status=200');
    });
  });
});
