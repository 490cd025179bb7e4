import { afterEach, describe, expect, test } from '@jest/globals';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';

import { BufferedBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import type { Delivery } from '../../../proxy/exchange/transport.ts';
import { compileBind } from '../../../proxy/listener/compiled.ts';
import { cipherList, opensslCipherName } from '../../../proxy/listener/cipher-suites.ts';
import { compileTlsServer } from '../../../proxy/listener/tls-server.ts';
import { Secret } from '../../../src/shared/secret.ts';
import {
  bindOf,
  dialTo,
  echoServer,
  fixture,
  fixturePath,
  frontend,
  hasTool,
  listener,
  RawClient,
  run,
  tcpRoute,
  TestPort,
  ticketSecret,
  tlsOf,
} from './harness.ts';

const withCurl = hasTool('curl') ? describe : describe.skip;
const withOpenssl = hasTool('openssl') ? describe : describe.skip;
const ca = fixture('ca.crt');
const https = (name: string, hostname: string, more = {}) =>
  listener(name, { kind: 'HTTPS', tls: tlsOf(name, more) }, { hostname });
const both = bindOf('tls', [
  https('a', 'a.example.com'),
  https('b', 'b.example.com'),
  https('wildcard', '*.wild.example.com'),
]);
const context = { frontend: { handshakeTimeoutMs: 1000 }, listenerKey: 'default/a', http: true, ticketSecret };

let port: TestPort | null = null;
afterEach(async () => {
  await port?.kill();
  port = null;
});

async function secure(options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', ca, ...options });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

async function exchange(socket: TLSSocket, path = '/'): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`);
  });
}

async function failure(options: ConnectionOptions): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', ca, ...options });
    socket.on('error', (error) => resolve(error.message));
    socket.on('close', () => resolve('closed'));
    socket.on('data', () => {});
  });
}

describe('TLS termination', () => {
  test.each([
    ['a.example.com', 'a.example.com', 'default/a'],
    ['B.EXAMPLE.com', 'b.example.com', 'default/b'],
    ['x.wild.example.com', '*.wild.example.com', 'default/wildcard'],
  ])('for %s presents the certificate of %s', async (servername, commonName, key) => {
    port = await new TestPort(both).open();
    const socket = await secure({ port: port.number, servername });
    expect(socket.getPeerCertificate().subject.CN).toBe(commonName);
    expect(await exchange(socket, '/s')).toContain('GET https://a/s HTTP/1.1');
    expect(port.requests[0]?.connection.tls).toEqual({
      sni: servername.toLowerCase(),
      alpn: null,
      version: 'TLSv1.3',
      listenerKey: key,
      peer: null,
    });
    expect(port.counts.handshakes).toBe(1);
    await port.end();
    expect(port.errors).toEqual([]);
    expect(port.counts.received).toBeGreaterThan(200);
  });

  test('an HTTP/2 client that leaves with the whole answer is not one that went away', async () => {
    const told = Promise.withResolvers<Delivery['kind']>();
    port = await new TestPort(both, {
      handler: (_request, _connection, transport) => {
        const body = new BufferedBody(Buffer.from('all of it'));
        transport.respond({ status: 200, headers: new Headers(), body }, ({ kind }) => told.resolve(kind));
      },
    }).open();
    const session = connectHttp2(`https://a.example.com:${port.number}`, {
      createConnection: () =>
        connect({ host: '127.0.0.1', port: port?.number ?? 0, ca, servername: 'a.example.com', ALPNProtocols: ['h2'] }),
    });
    let text = '';
    for await (const chunk of session.request({ ':path': '/' })) text += String(chunk);
    session.destroy();
    expect([text, await told.promise]).toEqual(['all of it', 'complete']);
  });

  test('negotiates HTTP/2 by ALPN', async () => {
    port = await new TestPort(both).open();
    const session = connectHttp2(`https://a.example.com:${port.number}`, {
      createConnection: () =>
        connect({ host: '127.0.0.1', port: port?.number ?? 0, ca, servername: 'a.example.com', ALPNProtocols: ['h2'] }),
    });
    const stream = session.request({ ':path': '/h2' });
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    expect(text).toMatch(/^GET https:\/\/a.example.com:\d+\/h2 HTTP\/2.0/);
    expect(port.requests[0]?.connection.tls).toMatchObject({ alpn: 'h2' });
    session.close();
    await port.end();
  });

  test('offers only what frontendPolicies.tls.alpn names', async () => {
    port = await new TestPort(both, { frontend: frontend({ tls: { alpn: ['http/1.1'] } }) }).open();
    const socket = await secure({ port: port.number, servername: 'a.example.com', ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    expect(await failure({ port: port.number, servername: 'a.example.com', ALPNProtocols: ['h2'] })).toMatch(
      /application protocol/i,
    );
    await port.end();
  });

  test('keeps to the versions and suites of the listener', async () => {
    const tls = { maxVersion: 'TLSv1.2', cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'] };
    port = await new TestPort(bindOf('tls', [https('a', '', tls)])).open();
    const socket = await secure({ port: port.number, servername: 'a.example.com' });
    expect(socket.getProtocol()).toBe('TLSv1.2');
    expect(socket.getCipher().name).toBe('ECDHE-ECDSA-AES128-GCM-SHA256');
    socket.destroy();
    expect(await failure({ port: port.number, servername: 'a.example.com', minVersion: 'TLSv1.3' })).toMatch(/version/);
    await port.port.empty();
    expect(port.errors).toMatchObject([
      { kind: 'tlsHandshake', detail: expect.stringMatching(/protocol/), sni: 'a.example.com' },
    ]);
    await port.end();
  });

  test('does the hybrid post-quantum key exchange when asked to', async () => {
    const tls = { keyExchangeGroups: ['X25519MLKEM768'] };
    port = await new TestPort(bindOf('tls', [https('a', '', tls)])).open();
    const socket = await secure({ port: port.number, servername: 'a.example.com', ecdhCurve: 'X25519MLKEM768' });
    expect(await exchange(socket)).toContain('200 OK');
    expect(await failure({ port: port.number, servername: 'a.example.com', ecdhCurve: 'X25519' })).not.toBe('closed');
    await port.end();
  });

  test('resumes a session on another thread of the same process, not on another listener', async () => {
    const first = await new TestPort(both).open();
    const second = await new TestPort(both).open();
    const client = connect({ host: '127.0.0.1', port: first.number, ca, servername: 'a.example.com' });
    const session = new Promise<Buffer>((resolve) => client.once('session', resolve));
    await exchange(client);
    const ticket = await session;
    const again = await secure({ port: second.number, servername: 'a.example.com', session: ticket });
    expect(again.isSessionReused()).toBe(true);
    await exchange(again);
    const elsewhere = await secure({ port: second.number, servername: 'b.example.com', session: ticket });
    expect(elsewhere.isSessionReused()).toBe(false);
    await exchange(elsewhere);
    await first.end();
    await second.end();
  });

  test('without a listener for the name fails with an alert, and tells', async () => {
    port = await new TestPort(both).open();
    expect(await failure({ port: port.number, servername: 'c.example.com' })).toMatch(/unrecognized name/);
    expect(await failure({ port: port.number })).toMatch(/unrecognized name/);
    await port.end();
    expect(port.errors).toMatchObject([
      { kind: 'noListener', sni: 'c.example.com' },
      { kind: 'noListener', detail: 'no listener for server name (none)' },
    ]);
  });

  test('tells a client that speaks plain HTTP', async () => {
    port = await new TestPort(both).open();
    const client = new RawClient(port.number).write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    await client.closed;
    expect(client.text).toContain('400 Bad Request');
    expect(client.text).toContain('this port speaks HTTPS');
    expect(port.errors).toMatchObject([{ kind: 'plaintextOnTls' }]);
    await port.end();
  });

  test('begins behind a PROXY header, even when both come at once', async () => {
    port = await new TestPort(both, {
      frontend: frontend({ proxyProtocol: { version: 'v1', mode: 'strict' } }),
    }).open();
    const raw = new RawClient(port.number);
    raw.socket.removeAllListeners('data');
    raw.socket.cork();
    raw.write('PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n');
    const socket = connect({ socket: raw.socket, ca, servername: 'a.example.com' });
    process.nextTick(() => raw.socket.uncork());
    expect(await exchange(socket)).toContain('200 OK');
    expect(port.requests[0]?.connection).toMatchObject({ sourceAddress: '192.0.2.1', tls: { sni: 'a.example.com' } });
    await port.end();
  });

  test('leaves nothing behind of hostile and slow clients', async () => {
    const quick = frontend({ tls: { handshakeTimeoutMs: 60 } });
    port = await new TestPort(both, { frontend: quick }).open();
    const hello = Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]);
    const clients = [
      new RawClient(port.number).write(hello),
      new RawClient(port.number).write(Buffer.alloc(300, 0xaa)),
      new RawClient(port.number).write(Buffer.from([22, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])),
      new RawClient(port.number).write(Buffer.from([22, 3, 1, 0, 4, 1, 0, 0, 0])),
      new RawClient(port.number),
    ];
    const ended = new RawClient(port.number).write(hello);
    ended.socket.end();
    await Promise.all([...clients, ended].map((client) => client.closed));
    await port.port.empty();
    expect(port.errors.map((error) => error.kind).sort()).toEqual([
      'clientHello',
      'clientHello',
      'clientHello',
      'clientHello',
      'timeout',
      'timeout',
    ]);
    expect(port.counts).toMatchObject({ opened: 0, closed: 0 });
    await port.end();
  });

  test('a handshake that stops half-way is cut in time', async () => {
    port = await new TestPort(both, { frontend: frontend({ tls: { handshakeTimeoutMs: 60 } }) }).open();
    const relay = new RawClient(port.number);
    const { Duplex } = await import('node:stream');
    // Sends the hello of a real client and nothing after it.
    let flights = 0;
    const wire = new Duplex({
      read() {},
      write(chunk: Buffer, _encoding, done) {
        if ((flights += 1) === 1) relay.write(chunk);
        done();
      },
    });
    connect({ socket: wire, servername: 'a.example.com' }).on('error', () => {});
    await relay.closed;
    expect(port.errors).toMatchObject([{ kind: 'timeout', detail: 'the TLS handshake took too long' }]);
    await port.end();
  });
});

describe('mutual TLS', () => {
  const mutual = bindOf('tls', [
    https('a', '', { root: { pem: fixture('client-ca.crt'), file: '/etc/gw/client-ca.crt' } }),
  ]);
  const identity = { cert: fixture('client.crt'), key: fixture('client.key') };

  test('tells who the client is', async () => {
    port = await new TestPort(mutual).open();
    await exchange(await secure({ port: port.number, servername: 'a.example.com', ...identity }));
    expect(port.requests[0]?.connection.tls?.peer).toEqual({
      identity: 'shop/checkout',
      spiffeId: 'spiffe://cluster.local/ns/shop/sa/checkout',
      subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/checkout', 'checkout.shop'],
      issuer: 'CN=client-ca',
      subject: 'O=Shop, CN=checkout',
      subjectCn: 'checkout',
      certificate: identity.cert,
    });
    await port.end();
  });

  test('refuses clients without a certificate and with one of a stranger', async () => {
    port = await new TestPort(mutual).open();
    expect(await failure({ port: port.number, servername: 'a.example.com' })).toMatch(/certificate required/);
    const stranger = { cert: fixture('stranger.crt'), key: fixture('stranger.key') };
    await failure({ port: port.number, servername: 'a.example.com', ...stranger });
    await port.port.empty();
    expect(port.requests).toEqual([]);
    expect(port.errors).toMatchObject([
      { kind: 'tlsHandshake', detail: expect.stringMatching(/peer did not return a certificate/) },
      { kind: 'tlsHandshake', detail: expect.stringMatching(/^client certificate: /) },
    ]);
    await port.end();
  });

  test('knows the client of a resumed session', async () => {
    port = await new TestPort(mutual).open();
    const client = connect({ host: '127.0.0.1', port: port.number, ca, servername: 'a.example.com', ...identity });
    const session = new Promise<Buffer>((resolve) => client.once('session', resolve));
    await exchange(client);
    const again = await secure({ port: port.number, servername: 'a.example.com', session: await session, ...identity });
    await exchange(again);
    expect(port.requests[1]?.connection.tls?.peer?.spiffeId).toBe('spiffe://cluster.local/ns/shop/sa/checkout');
    await port.end();
  });

  withCurl('curl', () => {
    test('works with curl', async () => {
      port = await new TestPort(mutual).open();
      const url = `https://a.example.com:${port.number}/curl`;
      const base = ['-sS', '--resolve', `a.example.com:${port.number}:127.0.0.1`, '--cacert', fixturePath('ca.crt')];
      const client = ['--cert', fixturePath('client.crt'), '--key', fixturePath('client.key')];
      for (const [version, word] of [
        ['--http1.1', 'HTTP/1.1'],
        ['--http2', 'HTTP/2.0'],
      ] as const) {
        const ran = await run('curl', [...base, ...client, version, '-d', 'x=1', url]);
        expect(ran).toMatchObject({ code: 0, stderr: '' });
        expect(ran.stdout).toContain(`/curl ${word}`);
      }
      const refused = await run('curl', [...base, url]);
      expect(refused.code).not.toBe(0);
      await port.end();
    });
  });

  withOpenssl('openssl', () => {
    test('works with openssl s_client', async () => {
      port = await new TestPort(both).open();
      const ran = await run('sh', [
        '-c',
        `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | openssl s_client -quiet -connect 127.0.0.1:${port.number} -servername b.example.com -verify_return_error -CAfile ${fixturePath('ca.crt')}`,
      ]);
      expect(ran.stdout).toContain('200 OK');
      await port.end();
    });
  });
});

describe('TLS reload', () => {
  test('drains connections of changed and removed listeners only', async () => {
    port = await new TestPort(both).open();
    const open = async (servername: string) => {
      const socket = await secure({ port: port?.number ?? 0, servername });
      const state = {
        closed: false,
        socket,
        ended: new Promise<void>((resolve) => socket.on('close', () => resolve())),
      };
      socket.on('close', () => (state.closed = true));
      const answered = new Promise<void>((resolve) =>
        socket.on('data', (chunk: Buffer) => String(chunk).endsWith('\n\n') && resolve()),
      );
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      await answered;
      return state;
    };
    const [a, b, wild] = [await open('a.example.com'), await open('b.example.com'), await open('x.wild.example.com')];
    const next = bindOf('tls', [https('a', 'a.example.com'), https('b', 'b.example.com', { maxVersion: 'TLSv1.2' })]);
    port.port.update(compileBind(next, frontend(), ticketSecret));
    await Promise.all([b.ended, wild.ended]);
    await port.until(() => port?.counts.closed === 2);
    expect(a.closed).toBe(false);
    a.socket.destroy();
    const changed = await secure({ port: port.number, servername: 'b.example.com' });
    expect(changed.getProtocol()).toBe('TLSv1.2');
    changed.destroy();
    await port.end();
  });
});

describe('TLS material', () => {
  const refusal = (tls: Parameters<typeof compileTlsServer>[0]): string => {
    try {
      compileTlsServer(tls, context);
      return 'accepted';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };

  test('that does not fit names both files', () => {
    const key = { pem: new Secret(fixture('b.key')), file: '/etc/gw/b.key' };
    expect(refusal(tlsOf('a', { key }))).toBe(
      'the private key in /etc/gw/b.key does not belong to the certificate in /etc/gw/a.crt',
    );
  });

  test('that cannot be read names its file', () => {
    expect(refusal(tlsOf('a', { cert: { pem: 'nonsense', file: '/etc/gw/x.crt' } }))).toMatch(
      /^the certificate in \/etc\/gw\/x\.crt cannot be read/,
    );
    expect(refusal(tlsOf('a', { key: { pem: new Secret(''), file: '/etc/gw/x.key' } }))).toMatch(
      /^the private key in \/etc\/gw\/x\.key cannot/,
    );
    expect(refusal(tlsOf('a', { root: { pem: '', file: '/etc/gw/ca' } }))).toMatch(
      /^the client CA in \/etc\/gw\/ca cannot/,
    );
  });

  test('versions the wrong way round, unknown suites and minted certificates are refused', () => {
    expect(refusal(tlsOf('a', { minVersion: 'TLSv1.3', maxVersion: 'TLSv1.2' }))).toMatch(/above/);
    expect(refusal(tlsOf('a', { cipherSuites: ['RC4-MD5'] }))).toMatch(/unknown cipher suite "RC4-MD5"/);
    expect(refusal(tlsOf('a', { mode: 'dynamicCa' }))).toMatch(/not built yet/);
    expect(refusal(tlsOf('a'))).toBe('accepted');
  });

  test('suites have three spellings', () => {
    expect(opensslCipherName('TLS13_AES_256_GCM_SHA384')).toBe('TLS_AES_256_GCM_SHA384');
    expect(opensslCipherName('TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384')).toBe('ECDHE-RSA-AES256-GCM-SHA384');
    expect(opensslCipherName('ECDHE-RSA-CHACHA20-POLY1305')).toBe('ECDHE-RSA-CHACHA20-POLY1305');
    expect(opensslCipherName('AES')).toBeUndefined();
    expect(cipherList(['TLS13_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'])).toBe(
      'TLS_AES_128_GCM_SHA256:ECDHE-ECDSA-AES128-GCM-SHA256',
    );
  });
});

describe('TLS listeners', () => {
  test('pass the bytes of a handshake through to the backend that the name chooses', async () => {
    const inner = await new TestPort(both).open();
    const routes = [tcpRoute('wild', ['*.example.com']), tcpRoute('b', ['b.example.com'])];
    const dialled: string[] = [];
    port = await new TestPort(bindOf('tls', [listener('pass', { kind: 'TLS' }, { tcpRoutes: routes })]), {
      dial: (backend, { route, sni, port: number }) => {
        dialled.push(`${route.name}/${backend.index} ${sni} ${number === port?.number}`);
        return dialTo(inner.number);
      },
    }).open();
    for (const name of ['a.example.com', 'b.example.com']) {
      const socket = await secure({ port: port.number, servername: name });
      expect(socket.getPeerCertificate().subject.CN).toBe(name);
      expect(await exchange(socket)).toContain('200 OK');
    }
    await port.end();
    await inner.end();
    expect(dialled).toEqual(['wild/0 a.example.com true', 'b/0 b.example.com true']);
    expect(port.tcp).toMatchObject([
      { outcome: 'closed', sni: 'a.example.com', listenerKey: 'default/pass', route: { name: 'wild' } },
      { outcome: 'closed', sni: 'b.example.com' },
    ]);
    expect(port.tcp[0]?.bytesReceived).toBeGreaterThan(200);
  });

  test('with certificates terminate TLS and copy what is inside', async () => {
    const backend = await echoServer('hello ');
    const tls = { kind: 'TLS', tls: tlsOf('a') } as const;
    port = await new TestPort(bindOf('tls', [listener('term', tls, { tcpRoutes: [tcpRoute('r', [])] })]), {
      dial: () => dialTo(backend.port),
    }).open();
    const socket = await secure({ port: port.number, servername: 'a.example.com' });
    expect(socket.alpnProtocol).toBe(false);
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.end('world');
    await new Promise((resolve) => socket.on('close', resolve));
    expect(text).toBe('hello world');
    await port.end();
    expect(port.tcp).toMatchObject([{ outcome: 'closed', bytesReceived: 5, bytesSent: 11, sni: 'a.example.com' }]);
    backend.close();
  });
});
