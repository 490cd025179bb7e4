import { connect, type Socket } from 'node:net';

import { afterEach, beforeAll, afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { eventually } from './clients.ts';
import { ask, Cleanup } from './gateway.ts';
import { answering, type Facing, facing, gatewayTo, nothingLeft, okAnswer, type RawUpstream } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const many = Array.from({ length: 101 }, (_, index) => `X-${index}: 1\r\n`).join('');
const GET = 'GET / HTTP/1.1\r\nHost: a\r\n';
const POST = 'POST / HTTP/1.1\r\nHost: a\r\n';
/** What a smuggler wants the upstream to take for a request of its own. */
const POISON = 'GET /poison HTTP/1.1\r\nHost: a\r\n\r\n';
const CHUNKED = `${POST}Transfer-Encoding: chunked\r\n\r\n`;

describe('a request that two parsers could read differently', () => {
  test.each<[string, string, number]>([
    ['both lengths', `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    [
      'both lengths, the other way',
      `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${POISON}`,
      400,
    ],
    ['two lengths', `${POST}Content-Length: 4\r\nContent-Length: 0\r\n\r\n${POISON}`, 400],
    ['two equal lengths', `${POST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${POISON}`, 400],
    ['a list of lengths', `${POST}Content-Length: 0, 4\r\n\r\n${POISON}`, 400],
    ['a signed length', `${POST}Content-Length: +4\r\n\r\n${POISON}`, 400],
    ['a negative length', `${POST}Content-Length: -1\r\n\r\n${POISON}`, 400],
    ['an empty length', `${POST}Content-Length:\r\n\r\n${POISON}`, 400],
    ['a length with a blank', `${POST}Content-Length: 1 0\r\n\r\n${POISON}`, 400],
    ['a hexadecimal length', `${POST}Content-Length: 0x4\r\n\r\n${POISON}`, 400],
    ['a fractional length', `${POST}Content-Length: 4.0\r\n\r\n${POISON}`, 400],
    ['a huge length', `${POST}Content-Length: 18446744073709551620\r\n\r\n${POISON}`, 400],
    ['an unknown coding', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['the identity coding', `${POST}Transfer-Encoding: identity\r\n\r\n${POISON}`, 400],
    ['a coding in front', `${POST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${POISON}`, 501],
    ['a coding behind', `${POST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['chunked twice', `${POST}Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['two codings', `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a quoted coding', `${POST}Transfer-Encoding: "chunked"\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a coding with a parameter', `${POST}Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['an empty coding', `${POST}Transfer-Encoding:\r\n\r\n${POISON}`, 400],
    ['a coding with a vertical tab', `${POST}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a blank before the colon', `${POST}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a blank before the name', `${POST} Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a folded coding', `${POST}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a coding behind a bare CR', `${POST}X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a coding behind a bare LF', `${POST}X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${POISON}`, 400],
    ['a coding in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['a bare LF at the end of a line', 'GET / HTTP/1.1\nHost: a\r\n\r\n', 400],
    ['a bare LF as the end of the head', `${GET}\n${POISON}`, 400],
    ['a NUL in a value', `${GET}X: a\0b\r\n\r\n`, 400],
    ['a NUL in a name', `${GET}X\0: a\r\n\r\n`, 400],
    ['a NUL in the target', 'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a control byte in a name', `${GET}X\x01: a\r\n\r\n`, 400],
    ['a byte beyond ASCII in a name', `${GET}X\xe9: a\r\n\r\n`, 400],
    ['a tab in the target', 'GET /a\tb HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a tab for a blank', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a blank in front of the method', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a blank behind the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n', 400],
    ['a blank in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a field without a colon', `${GET}nonsense\r\n\r\n`, 400],
    ['a field without a name', `${GET}: a\r\n\r\n`, 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', `${GET}Host: b\r\n\r\n`, 400],
    ['two equal Hosts', `${GET}Host: a\r\n\r\n`, 400],
    ['a Host with a path', 'GET / HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
    ['a Host with a user', 'GET / HTTP/1.1\r\nHost: u@a\r\n\r\n', 400],
    ['a Host with a blank', 'GET / HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
    ['a list of Hosts', 'GET / HTTP/1.1\r\nHost: a, b\r\n\r\n', 400],
    ['an absolute target without a host', 'GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an absolute target with a user', 'GET http://u@a/x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an absolute target of another kind', 'GET ftp://a/x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['an absolute target and two Hosts', 'GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
    ['a target without a slash', 'GET poison HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a star that is not OPTIONS', 'GET * HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a fragment', 'GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a method that is no token', 'G@T / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['empty lines without end', '\r\n'.repeat(100), 400],
    ['HTTP/0.9', 'GET /\r\n\r\n', 400],
    ['HTTP/0.9 by name', 'GET / HTTP/0.9\r\nHost: a\r\n\r\n', 505],
    ['HTTP/2 by name', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505],
    ['HTTP/1.10', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n', 505],
    ['a lower-case version', 'GET / http/1.1\r\nHost: a\r\n\r\n', 400],
    ['an unknown expectation', `${POST}Expect: tea\r\nContent-Length: 1\r\n\r\nx`, 417],
    ['too many fields', `${GET}${many}\r\n`, 431],
    ['a head that is too large', `${GET}X: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
    ['a target that is too large', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
    ['a head that never ends', `${GET}X: ${'a'.repeat(70_000)}`, 431],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400],
    ['plain garbage', 'how do you do?\r\n\r\n', 400],
    ['empty lines and garbage', '\r\n\r\n\r\n\x00\xff\r\n\r\n', 400],
  ])('because of %s is refused, and nothing of it reaches the upstream', async (_name, request, status) => {
    const { gateway, server } = await shared();
    const before = server.received().length;
    const answer = await gateway.whole(Buffer.from(request, 'latin1'));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain('\r\nx-gw-reason: InvalidRequest\r\n');
    expect(answer.split('HTTP/1.1 ').length).toBe(2);
    expect(server.received().length).toBe(before);
  });

  test.each<[string, string, number]>([
    ['a size that is no number', 'xyz\r\n', 400],
    ['no size', '\r\nabc\r\n', 400],
    ['a negative size', '-1\r\nabc\r\n', 400],
    ['a signed size', '+1\r\na\r\n', 400],
    ['a size with 0x', '0x1\r\na\r\n', 400],
    ['a size in two parts', '1 0\r\na\r\n', 400],
    ['a size that overflows', 'ffffffffffffffff0\r\na\r\n', 413],
    ['a blank before the size', ' 1\r\na\r\n', 400],
    ['a bare LF behind the size', '1\na\r\n0\r\n\r\n', 400],
    ['a bare CR behind the size', '1\ra\r\n0\r\n\r\n', 400],
    ['data longer than its size', '1\r\nabc\r\n0\r\n\r\n', 400],
    ['a bare LF behind the data', '1\r\na\n0\r\n\r\n', 400],
    ['a bare LF in an extension', '1;x\n=y\r\na\r\n0\r\n\r\n', 400],
    ['an endless extension', `1;${'x'.repeat(20_000)}\r\na\r\n`, 400],
    ['a bare LF at the end', '0\r\n\n', 400],
    ['a trailer that is no field', '0\r\nnonsense\r\n\r\n', 400],
    ['a folded trailer', '0\r\nX: a\r\n b\r\n\r\n', 400],
    ['endless trailers', `0\r\nX: ${'a'.repeat(20_000)}`, 431],
  ])(
    'because its chunks have %s is cut off, so that the upstream never takes it for whole',
    async (_name, body, status) => {
      const { gateway, server } = await shared();
      const from = server.received().length;
      const client = gateway.connect(`${CHUNKED}2\r\nok\r\n`);
      await eventually('its beginning is there', () => server.received().slice(from).endsWith('2\r\nok\r\n'));
      client.write(Buffer.from(`${body}${POISON}`, 'latin1'));
      await client.closed;
      expect(client.text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(client.text.split('HTTP/1.1 ').length).toBe(2);
      await eventually('the upstream connection closes', () => server.sockets.size === 0);
      const seen = server.received().slice(from);
      expect(seen).not.toContain('poison');
      expect(seen).not.toContain('\r\n0\r\n');
    },
  );

  test('poisons nothing when it is pipelined behind a legal one', async () => {
    const { gateway, server } = await shared();
    const from = server.received().length;
    const answers = await gateway.whole(
      `GET /fine HTTP/1.1\r\nHost: a\r\n\r\n${POST}Content-Length: x\r\n\r\n${POISON}`,
    );
    expect(answers).toMatch(/^HTTP\/1\.1 200 OK[^]*okHTTP\/1\.1 400 /);
    expect(answers.split('HTTP/1.1 ').length).toBe(3);
    expect(server.received().slice(from)).not.toContain('poison');
  });

  test.each([
    ['an absolute target', 'GET http://b.test/x HTTP/1.1\r\nHost: a\r\n', 'GET /x HTTP/1.1\r\nhost: b.test\r\n'],
    [
      'an absolute target without a path',
      'GET http://b.test?q HTTP/1.1\r\nHost: a\r\n',
      'GET /?q HTTP/1.1\r\nhost: b.test\r\n',
    ],
    ['empty lines in front', '\r\n\r\nGET /y HTTP/1.1\r\nHost: a\r\n', 'GET /y HTTP/1.1\r\nhost: a\r\n'],
    ['blanks around a value', 'GET /z HTTP/1.1\r\nHost: \t a \t\r\n', 'GET /z HTTP/1.1\r\nhost: a\r\n'],
  ])('but has one meaning (%s) arrives with that meaning', async (_name, request, expected) => {
    const { gateway, server } = await shared();
    const from = server.received().length;
    expect(await gateway.whole(`${request}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    expect(server.received().slice(from).startsWith(expected)).toBe(true);
  });

  test('cannot name the fields of the gateway as fields of its connection', async () => {
    const { gateway, server } = await shared();
    const from = server.received().length;
    const named = 'Connection: close, x-forwarded-for, content-length, host\r\nX-Forwarded-For: 9.9.9.9\r\n';
    await gateway.whole(`${POST}${named}Content-Length: 2\r\n\r\nhi`);
    const seen = server.received().slice(from);
    expect(seen).toMatch(/\r\nhost: a\r\n[^]*x-forwarded-for: 127\.0\.0\.1\r\n[^]*content-length: 2\r\n\r\nhi$/);
  });
});

/** One gateway and one upstream for the tables: what is refused leaves no trace in them. */
const lasting = new Cleanup();
let running: Promise<{ gateway: Facing; server: RawUpstream }> | null = null;
async function shared(): Promise<{ gateway: Facing; server: RawUpstream }> {
  running ??= (async () => {
    const server = await answering(lasting, (socket, request) => {
      // What comes in chunks is here to be broken off.
      if (!request.includes('chunked')) socket.write(okAnswer('ok', 'Connection: close\r\n'));
    });
    return { server, gateway: await gatewayTo(lasting, server.port) };
  })();
  return running;
}
beforeAll(async () => void (await shared()));
afterAll(() => lasting.run());

test('refused requests leave nothing behind', async () => {
  const { gateway } = await shared();
  await nothingLeft(gateway);
  expect((await ask(gateway.http, '/')).status).toBe(200);
  expect(gateway.log.filter((line) => line.includes('unexpected'))).toEqual([]);
});

describe('an answer of an upstream', () => {
  const legal = 'X-Ok: 1\r\n';
  test.each<[string, string]>([
    ['two lengths', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello`],
    ['two equal lengths', `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello`],
    [
      'both lengths',
      `HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    ],
    ['a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello'],
    ['another coding', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nhello'],
    ['garbage', '<html>what?</html>\r\n\r\n'],
    ['an old version', 'HTTP/0.9 200 OK\r\n\r\n'],
    ['a status that is none', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a bare LF', 'HTTP/1.1 200 OK\nX: y\r\n\r\n'],
    ['a field injected by a bare CR', `HTTP/1.1 200 OK\r\n${legal}X: y\rSet-Cookie: evil\r\nContent-Length: 0\r\n\r\n`],
    ['a field injected by a bare LF', `HTTP/1.1 200 OK\r\n${legal}X: y\nSet-Cookie: evil\r\nContent-Length: 0\r\n\r\n`],
    ['a NUL', 'HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n'],
    ['a field name that is none', 'HTTP/1.1 200 OK\r\nX Y: a\r\nContent-Length: 0\r\n\r\n'],
    ['a folded field', 'HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
    ['too many fields', `HTTP/1.1 200 OK\r\n${many}\r\n`],
    ['a head that is too large', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`],
    ['a head that never ends', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}`],
    ['early hints without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)],
    ['a switch of protocols that nobody asked for', 'HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
  ])('with %s becomes an error, and its connection is not used again', async (_name, hostile) => {
    let count = 0;
    const server = await answering(cleanup, (socket) => {
      count += 1;
      socket.write(Buffer.from(count === 1 ? hostile : okAnswer('fine'), 'latin1'));
    });
    const gateway = await gatewayTo(cleanup, server.port);
    const answer = await ask(gateway.http, '/');
    expect([502, 503]).toContain(answer.status);
    expect(answer.headers['x-gw-reason']).toBe('UpstreamFailure');
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(await ask(gateway.http, '/')).toMatchObject({ status: 200, body: 'fine' });
    expect(server.opened()).toBe(2);
    await nothingLeft(gateway);
  });

  test.each<[string, string, number]>([
    ['an answer behind the answer', `${okAnswer()}${okAnswer('poison')}`, 200],
    ['a body behind 204', 'HTTP/1.1 204 No Content\r\n\r\npoison', 204],
    ['a length with 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\n', 204],
    [
      'chunks in HTTP/1.0',
      'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      200,
    ],
    ['a close among several Connection fields', okAnswer('ok', 'Connection: x\r\nConnection: close\r\n'), 200],
  ])('with %s is taken, but nobody else gets its connection', async (_name, hostile, status) => {
    let count = 0;
    const server = await answering(cleanup, (socket) => {
      count += 1;
      socket.write(count === 1 ? hostile : okAnswer('fine'));
    });
    const gateway = await gatewayTo(cleanup, server.port);
    expect(await ask(gateway.http, '/')).toMatchObject({ status });
    expect(await ask(gateway.http, '/')).toMatchObject({ status: 200, body: 'fine' });
    expect(server.opened()).toBe(2);
  });

  test('that comes before the question closes the connection', async () => {
    let first = true;
    const server = await answering(cleanup, (socket) => {
      socket.write(okAnswer());
      if (first) setImmediate(() => socket.write(okAnswer('poison')));
      first = false;
    });
    const gateway = await gatewayTo(cleanup, server.port);
    expect((await ask(gateway.http, '/')).body).toBe('ok');
    await eventually('the connection is closed', () => server.sockets.size === 0);
    expect((await ask(gateway.http, '/')).body).toBe('ok');
  });
});

describe('a crowd of clients', () => {
  /** Opens a connection, writes something and is ready when that is with the kernel. */
  function open(port: number, bytes: string): Promise<Socket> {
    return new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      cleanup.add({ close: () => socket.destroy() });
      socket.on('error', () => {});
      socket.on('connect', () => (bytes === '' ? resolve(socket) : socket.write(bytes, () => resolve(socket))));
    });
  }

  test.each<[string, string]>([
    ['nothing', ''],
    ['half a request line', 'GET / HT'],
    ['half a head', GET],
    ['half a body', `${POST}Content-Length: 10\r\n\r\nhalf`],
    ['a whole request that is never answered', `${GET}\r\n`],
  ])('that sends %s and vanishes leaves nothing behind', async (_name, bytes) => {
    const server = await answering(cleanup, (socket, request) => {
      if (request.includes('/alive')) socket.end(okAnswer('alive', 'Connection: close\r\n'));
    });
    const gateway = await gatewayTo(cleanup, server.port);
    const sockets = await Promise.all(Array.from({ length: 500 }, () => open(gateway.http, bytes)));
    for (const [index, socket] of sockets.entries()) {
      if (index % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await nothingLeft(gateway);
    expect((await ask(gateway.http, '/alive')).body).toBe('alive');
    await eventually('the upstream connections close', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('that sends its heads byte by byte is shown the door', async () => {
    const gateway = await facing(
      cleanup,
      'frontendPolicies: {http: {http1IdleTimeout: 300ms}}\nroutes: [{policies: {directResponse: {status: 200, body: alive}}}]\n',
    );
    const clients = Array.from({ length: 50 }, (_, index) => gateway.connect(index % 2 === 0 ? GET : '\r\n'));
    const drip = setInterval(() => {
      for (const [index, { socket }] of clients.entries()) {
        if (socket.writable) socket.write(index % 2 === 0 ? 'X' : '\r\n');
      }
    }, 50);
    await Promise.all(clients.map((client) => client.closed));
    clearInterval(drip);
    expect(clients[0]?.text).toMatch(/^HTTP\/1\.1 408 /);
    await nothingLeft(gateway);
    expect((await ask(gateway.http, '/')).body).toBe('alive');
  });

  test('that says nothing at all is let go', async () => {
    const gateway = await facing(
      cleanup,
      'frontendPolicies: {http: {http1IdleTimeout: 100ms}}\nroutes: [{policies: {directResponse: {status: 200}}}]\n',
    );
    await Promise.all(Array.from({ length: 50 }, () => gateway.connect().closed));
    await nothingLeft(gateway);
  });
});

const FRAGMENTS =
  'GET |POST |/| HTTP/1.1|\r\n|\r\n\r\n|\n|\r| |\t|\0|Host: a|:|,|Content-Length: 3|Transfer-Encoding: chunked|'
    .concat('Connection: close|Expect: 100-continue|abc|3\r\nabc\r\n|0\r\n\r\n|Upgrade: x\r\nConnection: upgrade|')
    .concat('PRI * HTTP/2.0\r\n\r\n|', GET, '|', POST, '|', CHUNKED)
    .split('|');

describe('any bytes at all', () => {
  const piece = fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 12 }));

  test('get an answer or a close, and legal requests are served afterwards', async () => {
    const server = await answering(cleanup, (socket) => socket.write(okAnswer('ok', 'Connection: close\r\n')));
    const gateway = await gatewayTo(cleanup, server.port);
    const property = fc.asyncProperty(
      fc.array(fc.array(piece, { maxLength: 8 }), { maxLength: 4 }),
      async (packets) => {
        const client = gateway.connect();
        for (const packet of packets) {
          await new Promise<void>((resolve) => {
            client.socket.write(Buffer.from(packet.join(''), 'latin1'), () => resolve());
          });
        }
        client.socket.end();
        await client.closed;
        expect(client.text === '' || /^HTTP\/1\.[01] \d{3} /.test(client.text) || client.text.startsWith('\0\0')).toBe(
          true,
        );
      },
    );
    await fc.assert(property, { numRuns: 300 });
    expect(await ask(gateway.http, '/')).toMatchObject({ status: 200, body: 'ok' });
    await nothingLeft(gateway);
    expect(gateway.log.filter((line) => line.includes('unexpected'))).toEqual([]);
  });

  test('from an upstream get the client an answer or a close', async () => {
    let bytes = '';
    const server = await answering(cleanup, (socket) => socket.end(Buffer.from(bytes, 'latin1')));
    const gateway = await gatewayTo(cleanup, server.port);
    const part = fc.oneof(
      piece,
      fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.1 101 X\r\n', 'HTTP/1.1 100 X\r\n\r\n', 'HTTP/1.1 204 X\r\n\r\n'),
    );
    const property = fc.asyncProperty(fc.array(part, { maxLength: 10 }), async (parts) => {
      bytes = parts.join('');
      const text = await gateway.whole(`${GET}Connection: close\r\n\r\n`);
      expect(text).toMatch(/^HTTP\/1\.1 [2-5]\d\d |^HTTP\/1\.1 1\d\d [^]*\r\n\r\n/);
    });
    await fc.assert(property, { numRuns: 300 });
    bytes = okAnswer();
    expect(await ask(gateway.http, '/')).toMatchObject({ status: 200, body: 'ok' });
    await nothingLeft(gateway);
    expect(gateway.log.filter((line) => line.includes('unexpected'))).toEqual([]);
  });
});
