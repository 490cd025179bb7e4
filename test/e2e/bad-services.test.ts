/** Services of policies over HTTP that are down, slow, cut off or talk nonsense: external authorization of requests and connections. */
import type { Socket } from 'node:net';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, type OpenServer, RawClient, tcpUpstream } from './clients.ts';
import { ask, Cleanup, echo, upstream } from './gateway.ts';
import { facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Behaviour = (socket: Socket, head: string) => void;

/** A service that does the same to each connection, once the head of a question is there. */
async function service(behave: Behaviour): Promise<OpenServer> {
  return cleanup.add(
    await tcpUpstream((socket) => {
      let head = '';
      socket.on('data', (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        const asked = head;
        head = '';
        behave(socket, asked);
      });
    }),
  );
}

const answers =
  (bytes: string): Behaviour =>
  (socket) =>
    void socket.write(bytes, 'latin1');
const closesAfter =
  (bytes: string): Behaviour =>
  (socket) =>
    void socket.end(bytes, 'latin1');

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** What is no answer, whatever the service means by it. */
const nonsense: readonly (readonly [string, Behaviour])[] = [
  ['resets the connection', (socket) => void socket.resetAndDestroy()],
  ['closes the connection', (socket) => void socket.end()],
  ['closes it in the first line', closesAfter('HTTP/1.1 20')],
  ['closes it in the head', closesAfter('HTTP/1.1 200 OK\r\nx-a: 1\r\n')],
  ['closes it in the body', closesAfter('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab')],
  ['closes it in a chunk', closesAfter('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab')],
  ['closes it before the last chunk', closesAfter('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n')],
  ['says that it goes on, and nothing more', closesAfter('HTTP/1.1 100 Continue\r\n\r\n')],
  [
    'gives hints for ever',
    (socket) => {
      const more = (): void =>
        void (
          socket.writable &&
          socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(100), (error) =>
            error ? undefined : setImmediate(more),
          )
        );
      more();
    },
  ],
  ['speaks SMTP', closesAfter('220 mail.test ESMTP\r\n')],
  ['speaks TLS', closesAfter('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03')],
  ['speaks HTTP/2', closesAfter('\x00\x00\x00\x04\x00\x00\x00\x00\x00')],
  ['speaks HTTP/0.9', closesAfter('<html>ok</html>')],
  ['has a version of its own', closesAfter('HTTP/9.9 200 OK\r\ncontent-length: 0\r\n\r\n')],
  ['has a status of two digits', closesAfter('HTTP/1.1 20 OK\r\ncontent-length: 0\r\n\r\n')],
  ['has a status of words', closesAfter('HTTP/1.1 yes OK\r\ncontent-length: 0\r\n\r\n')],
  ['has two lengths', closesAfter('HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\nhello')],
  ['has a length below nothing', closesAfter('HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n')],
  ['has a length that is no number', closesAfter('HTTP/1.1 200 OK\r\ncontent-length: 0x0\r\n\r\n')],
  ['has a chunk that is no number', closesAfter('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n')],
  ['has a zero byte in a header', closesAfter('HTTP/1.1 200 OK\r\nx-user: a\0b\r\ncontent-length: 0\r\n\r\n')],
  [
    'has a bare line feed in a header',
    closesAfter('HTTP/1.1 200 OK\r\nx-user: a\rx-evil: 1\r\ncontent-length: 0\r\n\r\n'),
  ],
  ['has a header without a name', closesAfter('HTTP/1.1 200 OK\r\n: a\r\ncontent-length: 0\r\n\r\n')],
  ['has a folded header', closesAfter('HTTP/1.1 200 OK\r\nx-user: a\r\n b\r\ncontent-length: 0\r\n\r\n')],
  [
    'has a head of 1 MB',
    closesAfter(`HTTP/1.1 200 OK\r\nx-user: ${'a'.repeat(1_000_000)}\r\ncontent-length: 0\r\n\r\n`),
  ],
  [
    'has a body of 2 MB',
    (socket) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`),
  ],
  [
    'has a body without an end',
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void =>
        void (socket.writable && socket.write('x'.repeat(65_536), (error) => (error ? undefined : setImmediate(more))));
      more();
    },
  ],
];

const SOON = 'policies: {http: {requestTimeout: 60ms}}';

/** What never comes to an end, so that the time does. */
const slow: readonly (readonly [string, Behaviour])[] = [
  ['says nothing', () => {}],
  ['stops in the head', answers('HTTP/1.1 200 OK\r\nx-a: ')],
  ['stops in the body', answers('HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nab')],
  [
    'drips',
    (socket) => {
      const timer = setInterval(() => socket.write('x'), 5);
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      socket.on('close', () => clearInterval(timer));
    },
  ],
];

const modes: readonly (readonly [string, number, string])[] = [
  ['deny', 403, 'external authorization failed'],
  ['{denyWithStatus: 503}', 503, 'Authorization service unavailable'],
  ['allow', 200, ''],
];

/** A gateway whose route asks the service about each request, in front of an upstream that echoes. */
async function guarded(port: number, more: string, http = '{}') {
  let reached = 0;
  const backend = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      echo(request, response);
    }),
  );
  const gateway = await facing(
    cleanup,
    `routes:
- {matches: [{path: {exact: /free}}], backends: [{host: "127.0.0.1:${backend.port}"}]}
- policies: {extAuthz: {host: "127.0.0.1:${port}", protocol: {http: ${http}}, ${more}}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`,
  );
  return { ...gateway, reached: () => reached, get: (path = '/') => ask(gateway.http, path) };
}

describe('a service that is asked about requests and gives no answer', () => {
  const cases = [...nonsense, ...slow].flatMap(([what, behave]) =>
    modes.map((mode) => [what, mode[0], behave, mode] as const),
  );

  test.each(cases)('because it %s, under %s', async (_what, _mode, behave, [mode, status, body]) => {
    const server = await service(behave);
    const gateway = await guarded(server.port, `failureMode: ${mode}, ${SOON}`);
    const answer = await gateway.get();
    expect([answer.status, answer.headers['x-gw-reason']]).toEqual([status, status === 200 ? undefined : 'ExtAuth']);
    expect(answer.body).toContain(body);
    expect(answer.headers).not.toHaveProperty('x-evil');
    expect(gateway.reached()).toBe(status === 200 ? 1 : 0);
    expect((await gateway.get('/free')).status).toBe(200);
    await eventually('the connection to the service is closed', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });
});

describe('a service that is asked about connections and gives no answer', () => {
  const cases = [...nonsense, ...slow].flatMap(([what, behave]) => [
    [what, 'deny', behave, ''] as const,
    [what, 'allow', behave, 'served'] as const,
  ]);

  test.each(cases)('because it %s, under %s', async (_what, mode, behave, served) => {
    const server = await service(behave);
    const gateway = await facing(
      cleanup,
      `frontendPolicies: {networkExtAuthz: {host: "127.0.0.1:${server.port}", protocol: {http: {}}, failureMode: ${mode}, ${SOON}}}
routes: [{policies: {directResponse: {status: 200, body: served}}}]
`,
    );
    const text = await gateway.whole('GET / HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n');
    expect(text.slice(-6)).toBe(served);
    await eventually('the connection to the service is closed', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });
});

describe('an answer of a service', () => {
  test.each([
    ['300', 'HTTP/1.1 300 Choose\r\ncontent-length: 2\r\n\r\nhi', 300, 'hi'],
    ['302', 'HTTP/1.1 302 Found\r\nlocation: https://login.test/\r\ncontent-length: 0\r\n\r\n', 302, ''],
    ['304', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 1234\r\n\r\n', 304, ''],
    [
      '401 in chunks',
      'HTTP/1.1 401 No\r\nwww-authenticate: X\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-t: 1\r\n\r\n',
      401,
      'hi',
    ],
    [
      '500',
      'HTTP/1.1 500 Broken\r\nconnection: x-hop\r\nx-hop: 1\r\nkeep-alive: timeout=5\r\ncontent-length: 2\r\n\r\nhi',
      500,
      'hi',
    ],
    ['599', 'HTTP/1.1 599 Odd\r\ncontent-length: 2\r\n\r\nhi', 599, 'hi'],
    [
      '401 behind hints',
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nhi',
      401,
      'hi',
    ],
  ])('of %s is the answer, under every failure mode', async (_what, bytes, status, body) => {
    const server = await service(answers(bytes));
    const gateway = await guarded(server.port, 'failureMode: allow');
    const client = gateway.connect(
      'GET / HTTP/1.1\r\nhost: shop.test\r\n\r\nGET /free HTTP/1.1\r\nhost: shop.test\r\n\r\n',
    );
    const text = await client.until((all) => all.includes('"url":"/free"'));
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const head = text.slice(0, text.indexOf('\r\n\r\n'));
    expect(head).not.toMatch(/x-hop|keep-alive|x-t:|transfer-encoding/i);
    expect(text.slice(head.length + 4).startsWith(`${body}HTTP/1.1 200 `)).toBe(true);
    expect(gateway.reached()).toBe(1);
  });

  test.each([
    ['101', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello'],
    ['201', 'HTTP/1.1 201 Created\r\nx-user: root\r\ncontent-length: 2\r\n\r\nhi'],
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['206', 'HTTP/1.1 206 Part\r\ncontent-length: 2\r\n\r\nhi'],
  ])('of %s neither lets anybody in nor looks as if it did', async (_what, bytes) => {
    const server = await service(closesAfter(bytes));
    const gateway = await guarded(server.port, 'failureMode: allow');
    const answer = await gateway.get();
    expect(answer).toMatchObject({ status: 403, body: 'external authorization failed' });
    expect(answer.headers).not.toHaveProperty('x-user');
    expect(gateway.reached()).toBe(0);
    await eventually('the connection to the service is closed', () => server.sockets.size === 0);
  });

  test('to a question by HEAD has no body, and a length that fools nobody', async () => {
    const server = await service(
      (socket, head) =>
        void socket.write(`HTTP/1.1 401 No\r\ncontent-length: 5\r\n\r\n${head.startsWith('HEAD') ? '' : 'hello'}`),
    );
    const gateway = await guarded(server.port, 'failureMode: deny');
    const client = gateway.connect(
      'HEAD / HTTP/1.1\r\nhost: shop.test\r\n\r\nGET /free HTTP/1.1\r\nhost: shop.test\r\n\r\n',
    );
    const text = await client.until((all) => all.includes('"url":"/free"'));
    expect(text).toMatch(/^HTTP\/1\.1 401 [^]*?\r\n\r\nHTTP\/1\.1 200 /);
  });

  test('is not waited for twice: what comes behind it ends its connection, and poisons nothing', async () => {
    const server = await service(answers(`${OK}HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n`));
    const gateway = await guarded(server.port, 'failureMode: deny');
    for (let i = 0; i < 5; i++) expect((await gateway.get()).status).toBe(200);
    expect(gateway.reached()).toBe(5);
  });

  test('gives the upstream what is listed, and none of it may frame a message', async () => {
    const server = await service(
      answers(
        'HTTP/1.1 200 OK\r\nx-user: \xe9 a\r\nX-USER: b\r\ncontent-length: 0\r\nconnection: x-user2\r\nx-user2: c\r\ntransfer-encoded: x\r\nhost: evil.test\r\n\r\n',
      ),
    );
    const http = '{includeResponseHeaders: [x-user, x-user2, content-length, transfer-encoding, connection, x-none]}';
    const gateway = await guarded(server.port, 'failureMode: deny', http);
    const text = await gateway.whole(
      'POST / HTTP/1.1\r\nhost: shop.test\r\nx-user: client\r\nx-none: client\r\ncontent-length: 2\r\nconnection: close\r\n\r\nhi',
    );
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    expect(text).toContain('"body":"hi"');
    expect(text).toContain('"host":"shop.test"');
    expect(text).not.toMatch(/"x-user2"|"x-user":"client/);
  });
});

describe('a service under load', () => {
  test('that has gone away leaves nothing open when it comes back', async () => {
    let up = false;
    const server = await service((socket) => (up ? void socket.write(OK) : void socket.resetAndDestroy()));
    const gateway = await guarded(server.port, 'failureMode: deny');
    const statuses = async (): Promise<Set<number>> =>
      new Set((await Promise.all(Array.from({ length: 40 }, () => gateway.get()))).map(({ status }) => status));
    expect(await statuses()).toEqual(new Set([403]));
    expect(gateway.reached()).toBe(0);
    up = true;
    expect(await statuses()).toEqual(new Set([200]));
    await nothingLeft(gateway);
    // What is open now is idle, and serves the next ones.
    const idle = server.sockets.size;
    expect(idle).toBeLessThanOrEqual(40);
    const opened = server.opened();
    for (let i = 0; i < 5; i++) await gateway.get();
    expect(server.opened()).toBe(opened);
  });

  test('that says nothing is let go by each client that leaves', async () => {
    const server = await service(() => {});
    const gateway = await guarded(server.port, 'failureMode: allow, policies: {http: {requestTimeout: 60s}}');
    const clients = Array.from({ length: 20 }, () => {
      const client = new RawClient(gateway.http);
      return client.write('POST / HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 10\r\n\r\nabc');
    });
    await eventually('all are asked about', () => server.sockets.size === 20);
    for (const client of clients) client.socket.destroy();
    await eventually('no question is left', () => server.sockets.size === 0);
    expect(gateway.reached()).toBe(0);
    await nothingLeft(gateway);
  });
});
