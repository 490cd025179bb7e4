import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer } from 'node:net';

import { portHolder } from '../../../proxy/listener/port-holder.ts';
import { bindOf, frontend, hasTool, listen, listener, RawClient, run, TestPort } from './harness.ts';

const onLinux = process.platform === 'linux' ? describe : describe.skip;
const withCurl = hasTool('curl') ? describe : describe.skip;
const plain = bindOf('http', [listener('web', { kind: 'HTTP' })]);
let port: TestPort | null = null;

afterEach(async () => {
  await port?.kill();
  port = null;
});

describe('a port', () => {
  test('that is taken is an error that names it, its holder and the way out', async () => {
    const other = createServer();
    const taken = await listen(other);
    const holder = await portHolder(taken);
    const blocked = new TestPort(
      bindOf('http', [], { port: taken, key: `bind/${taken}`, address: `127.0.0.1:${taken}` }),
    );
    const by = holder === undefined ? '' : ` by ${holder.command} (process ${process.pid})`;
    await expect(blocked.open()).rejects.toMatchObject({
      code: 'GW_BIND',
      systemCode: 'EADDRINUSE',
      message: `port ${taken} of bind/${taken} (127.0.0.1:${taken}) is already in use${by}`,
      hint: expect.stringContaining('change `port`'),
    });
    await blocked.kill();
    other.close();
  });

  test('on an address that this machine does not have is an error that says so', async () => {
    const blocked = new TestPort(bindOf('http', [], { host: '192.0.2.1', address: '192.0.2.1:0' }));
    await expect(blocked.open()).rejects.toMatchObject({ code: 'GW_BIND', systemCode: 'EADDRNOTAVAIL' });
    await blocked.kill();
  });

  onLinux('on Linux', () => {
    test('tells which process holds it', async () => {
      const server = createServer();
      const number = await listen(server);
      expect(await portHolder(number)).toMatchObject({ pid: process.pid });
      server.close();
      expect(await portHolder(number, '/nowhere')).toBeUndefined();
    });
  });

  test('that closes still serves every connection that waits at it', async () => {
    port = await new TestPort(plain).open();
    const { number } = port;
    const clients = Array.from({ length: 20 }, () =>
      new RawClient(number).write('GET /last HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'),
    );
    await port.port.takeLast();
    await Promise.all(clients.map(({ closed }) => closed));
    expect(clients.map(({ text }) => text.slice(0, 15))).toEqual(clients.map(() => 'HTTP/1.1 200 OK'));
    const late = new RawClient(number);
    await late.closed;
    expect(late.text).toBe('');
  });

  test('holds connections back until it is activated', async () => {
    const prepared = new TestPort(plain);
    port = prepared;
    const number = await prepared.port.open({ reusePort: false });
    const client = new RawClient(number).write('GET /early HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    const impatient = new RawClient(number);
    await new Promise<void>((resolve) => impatient.socket.once('connect', resolve));
    impatient.socket.resetAndDestroy();
    await impatient.closed;
    expect(prepared.requests).toHaveLength(0);
    prepared.port.activate();
    await client.closed;
    expect(client.text).toContain('GET http://a/early HTTP/1.1');
    await prepared.end();
  });

  onLinux('on Linux', () => {
    test('is shared by several threads with reusePort', async () => {
      const first = new TestPort(plain);
      const second = new TestPort(plain);
      const number = await first.port.open({ reusePort: true });
      expect(await second.port.open({ reusePort: true, port: number })).toBe(number);
      await first.kill();
      await second.kill();
    });
  });

  test('serves what it is updated to, on connections that are open already', async () => {
    port = await new TestPort(plain).open();
    const client = new RawClient(port.number).write('GET /1 HTTP/1.1\r\nhost: a\r\n\r\n');
    await client.until((text) => text.includes('/1'));
    client.write('GET /2 HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    await client.closed;
    expect(client.text).toContain('/2');
    await port.end();
  });

  test('counts connections and bytes, open ones when asked', async () => {
    port = await new TestPort(plain).open();
    const request = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n';
    const client = new RawClient(port.number).write(request);
    await client.until((text) => text.includes('HTTP/1.1 200') && text.endsWith('\n\n'));
    expect(port.counts).toMatchObject({ opened: 1, closed: 0, received: 0 });
    port.port.sampleBytes();
    expect(port.counts.received).toBe(request.length);
    client.socket.end();
    await port.port.empty();
    expect(port.counts).toMatchObject({ closed: 1, received: request.length, sent: client.received.length });
    expect(port.labels).toEqual([{ bind: 'bind/0', gateway: 'default/gw', listener: 'web', protocol: 'http' }]);
    await port.end();
  });

  test('asks clients to leave when it drains, and each new one after its first response', async () => {
    port = await new TestPort(plain).open();
    const idle = new RawClient(port.number).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await idle.until((text) => text.endsWith('\n\n'));
    port.port.drain();
    await idle.closed;
    const late = new RawClient(port.number).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await late.closed;
    expect(late.text).toContain('connection: close');
    await port.end();
  });

  test('survives a flood of connections that come and go', async () => {
    port = await new TestPort(plain).open();
    const clients = Array.from({ length: 300 }, (_, i) => {
      const client = new RawClient(port?.number ?? 0);
      if (i % 3 === 0) client.write('GET / HT');
      if (i % 3 === 1) client.write(Buffer.from([0, 1, 2, 255]));
      client.socket.once('connect', () => client.socket.resetAndDestroy());
      return client.closed;
    });
    await Promise.all(clients);
    const after = new RawClient(port.number).write('GET /alive HTTP/1.0\r\n\r\n');
    await after.closed;
    expect(after.text).toContain('/alive');
    await port.end();
  });
});

describe('PROXY protocol', () => {
  const strict = frontend({ proxyProtocol: { version: 'all', mode: 'strict' } });
  const optional = frontend({ proxyProtocol: { version: 'all', mode: 'optional' } });
  const request = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

  test('gives the request the client that the load balancer saw', async () => {
    port = await new TestPort(plain, { frontend: strict }).open();
    const client = new RawClient(port.number).write(`PROXY TCP4 192.0.2.1 198.51.100.2 5000 443\r\n${request}`);
    await client.closed;
    expect(port.requests[0]?.connection).toMatchObject({
      sourceAddress: '192.0.2.1',
      sourcePort: 5000,
      destinationAddress: '198.51.100.2',
      destinationPort: 443,
      rawAddress: '127.0.0.1',
    });
    await port.end();
  });

  test('keeps the socket address for UNKNOWN, in whatever pieces the header comes', async () => {
    port = await new TestPort(plain, { frontend: strict }).open();
    const client = new RawClient(port.number).write('PROXY UNK');
    await new Promise<void>((resolve) => client.socket.once('connect', resolve));
    client.write(`NOWN\r\n${request}`);
    await client.closed;
    expect(port.requests[0]?.connection).toMatchObject({ sourceAddress: '127.0.0.1' });
    await port.end();
  });

  test('in strict mode a client without header is cut, and seen to be', async () => {
    port = await new TestPort(plain, { frontend: strict }).open();
    const client = new RawClient(port.number).write(request);
    await client.closed;
    expect(client.text).toBe('');
    expect(port.errors).toMatchObject([{ kind: 'proxyHeader', detail: 'no PROXY header', remoteAddress: '127.0.0.1' }]);
    await port.end();
  });

  test('in optional mode it is served', async () => {
    port = await new TestPort(plain, { frontend: optional }).open();
    const client = new RawClient(port.number).write(request);
    await client.closed;
    expect(client.text).toContain('200 OK');
    await port.end();
  });

  test('half a header and then the end closes the connection', async () => {
    port = await new TestPort(plain, { frontend: optional }).open();
    const client = new RawClient(port.number).write('PROXY TCP4 192');
    client.socket.end();
    await client.closed;
    expect(port.errors).toMatchObject([{ kind: 'proxyHeader', detail: 'the connection ended inside a PROXY header' }]);
    await port.end();
  });

  withCurl('curl', () => {
    test('is spoken by curl', async () => {
      port = await new TestPort(plain, { frontend: strict }).open();
      const ran = await run('curl', ['-sS', '--haproxy-protocol', `http://127.0.0.1:${port.number}/x`]);
      expect(ran.stdout).toContain('/x HTTP/1.1');
      await port.end();
    });
  });
});
