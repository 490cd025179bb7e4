/** Key sets that fail, lie or change under a gateway that runs, and tokens of keys that they do not know. */
import type { ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { forged, ISSUER, type Signer, signer, token } from '../proxy/jwt/tokens.ts';
import { DocumentServer } from '../proxy/resources/server.ts';
import { eventually, fixture, RawClient } from './clients.ts';
import { type Answer, ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

let one: Signer;
let other: Signer;

beforeAll(async () => {
  one = await signer('one');
  other = await signer('other');
});

function keySet(...signers: Signer[]): string {
  return JSON.stringify({ keys: signers.map(({ jwk }) => jwk) });
}

const bearer = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` });

/** A gateway of its own that trusts the keys behind an address. */
async function following(url: string, options: { threads?: number } = {}) {
  let seen = 0;
  const behind = cleanup.add(await upstream((_request, response) => ((seen += 1), response.end('served'))));
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}
routes: [{policies: {jwtAuth: {issuer: ${ISSUER}, jwks: {url: "${url}"}}}, backends: [{host: "127.0.0.1:${behind.port}"}]}]`,
      options,
    ),
  );
  const send = (text: string): Promise<Answer> => ask(running.port(80), '/', { headers: bearer(text) });
  return { ...running, send, seen: () => seen };
}

async function keyServer(text: string): Promise<DocumentServer> {
  const server = cleanup.add(await DocumentServer.start(() => {}));
  server.serve(text);
  return server;
}

const counts = (answers: readonly Answer[]): Record<string, number> =>
  answers.reduce<Record<string, number>>((sum, { status }) => ({ ...sum, [status]: (sum[status] ?? 0) + 1 }), {});

describe('a key set that goes wrong under a gateway that runs', () => {
  const wrongs: readonly (readonly [string, (response: ServerResponse, server: DocumentServer) => void, RegExp])[] = [
    ['is an error', (response) => response.writeHead(500).end('{}'), /status 500/],
    ['is not found', (response) => response.writeHead(404).end(keySet(other)), /status 404/],
    ['is empty', (response) => response.end(), /it is not JSON/],
    ['is a page', (response) => response.end('<html>'), /it is not JSON/],
    ['is another document', (response) => response.end('{"keys":{}}'), /no list `keys`/],
    [
      'has keys that nobody can use',
      (response) => response.end('{"keys":[{"kid":"a","kty":"oct","k":"AA"}]}'),
      /no key/,
    ],
    [
      'has broken keys',
      (response) => response.end(`{"keys":[{"kid":"a","kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`),
      /no key/,
    ],
    [
      'has a key without an id',
      (response) => response.end(JSON.stringify({ keys: [{ ...other.jwk, kid: '' }] })),
      /no `kid`/,
    ],
    [
      'has too many keys',
      (response) => response.end(JSON.stringify({ keys: Array(1001).fill(other.jwk) })),
      /more than 1000 keys/,
    ],
    ['is huge', (response) => response.end(`{"keys":[${' '.repeat(1_100_000)}]}`), /larger than 1 MiB/],
    [
      'has no end',
      (response) => {
        const more = (error?: Error | null): void => {
          if (!error && !response.destroyed) response.write('x'.repeat(65_536), more);
        };
        more();
      },
      /larger than 1 MiB/,
    ],
    ['is not text', (response) => response.end(Buffer.from([0xff, 0xfe, 0])), /not UTF-8/],
    [
      'is cut',
      (response) => response.writeHead(200, { 'content-length': '100' }).write('{', () => response.destroy()),
      /./,
    ],
    ['hangs up', (response) => response.destroy(), /./],
    ['leads to itself', (response) => response.writeHead(302, { location: '/' }).end(), /more than 5 redirects/],
    [
      'leads to a file',
      (response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
      /redirects to file:/,
    ],
    ['leads nowhere', (response) => response.writeHead(302).end(), /status 302/],
    [
      'leads to a port where nobody is',
      (response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      /./,
    ],
  ];

  test.each(wrongs)('%s: the keys that were there stay, and no other is believed', async (_what, answer, told) => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url);
    server.answer = (_request, response) => answer(response, server);
    const unknown = await running.send(await token(other));
    expect([unknown.status, unknown.body]).toEqual([401, 'authentication failure: token uses the unknown key "other"']);
    expect(unknown.body).not.toContain('127.0.0.1');
    expect(await running.logged('could not be refreshed')).toMatch(told);
    expect((await running.send(await token(one))).status).toBe(200);
    expect(running.seen()).toBe(1);
  });

  test('is empty: it says that no key is good any more', async () => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url);
    expect((await running.send(await token(one))).status).toBe(200);
    server.serve('{"keys":[]}');
    expect((await running.send(await token(other))).status).toBe(401);
    expect((await running.send(await token(one))).status).toBe(401);
  });

  test('is followed where it moves to', async () => {
    const server = await keyServer(keySet(one));
    const moved = await keyServer(keySet(other));
    const running = await following(server.url);
    server.answer = (_request, response) => response.writeHead(308, { location: `${moved.url}/keys` }).end();
    expect((await running.send(await token(other))).status).toBe(200);
    expect(moved.asked).toEqual(['/keys']);
  });

  test('has a certificate that nobody vouches for', async () => {
    const server = createTlsServer({ cert: fixture('a.crt'), key: fixture('a.key') }, (_request, response) => {
      response.end(keySet(one));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    cleanup.add({ close: () => server.close() });
    const { port } = server.address() as AddressInfo; // a TCP server that listens has an address with a port
    await expect(following(`https://127.0.0.1:${port}/`)).rejects.toThrow(/cannot load the key set/);
  });
});

describe('tokens of unknown keys', () => {
  test.each([undefined, 2])('make one fetch, however many and whatever their keys (threads: %s)', async (threads) => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url, threads === undefined ? {} : { threads });
    const forgeries = await Promise.all(Array.from({ length: 100 }, (_, i) => token({ ...other, kid: `k${i}` })));
    const good = await token(one);
    const mixed = forgeries.flatMap((text, i) => (i % 4 === 0 ? [text, good] : [text]));
    expect(counts(await Promise.all(mixed.map(running.send)))).toEqual({ 401: 100, 200: 25 });
    expect(counts(await Promise.all(forgeries.map(running.send)))).toEqual({ 401: 100 });
    expect(server.asked).toHaveLength(2);
    expect(running.seen()).toBe(25);
  });

  test('make no fetch when they name another issuer, or are no tokens', async () => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url);
    const answers = await Promise.all(
      [
        await token(other, { claims: { iss: `${ISSUER}/` } }),
        await token(other, { claims: { iss: undefined } }),
        forged({ alg: 'ES256', kid: 'other' }, '{', 'AA'),
        'a.b.c',
      ].map(running.send),
    );
    expect(counts(answers)).toEqual({ 401: 4 });
    expect(server.asked).toHaveLength(1);
  });

  test('wait for a key set that is slow, and hold nobody else up', async () => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url);
    const held: ServerResponse[] = [];
    server.answer = (_request, response) => void held.push(response);
    const text = await token(other);
    const waiting = Array.from({ length: 30 }, () => running.send(text));
    await eventually('the fetch', () => held.length === 1);
    expect((await running.send(await token(one))).status).toBe(200);
    // Some leave before the answer is there.
    const leaving = Array.from({ length: 10 }, () => {
      const client = new RawClient(running.port(80));
      return client.write(`GET / HTTP/1.1\r\nhost: shop.test\r\nauthorization: Bearer ${text}\r\n\r\n`);
    });
    for (const client of leaving) {
      await eventually('the connection', () => client.socket.bytesWritten > 0);
      client.socket.destroy();
    }
    held[0]?.end(keySet(one, other));
    expect(counts(await Promise.all(waiting))).toEqual({ 200: 30 });
    expect(held).toHaveLength(1);
  });

  test('are accepted from the moment on in which keys rotate, while old ones are sent all the time', async () => {
    const server = await keyServer(keySet(one));
    const running = await following(server.url, { threads: 2 });
    const [old, fresh] = [await token(one), await token(other)];
    let rotated = false;
    const client = async (): Promise<number[]> => {
      const statuses: number[] = [];
      for (let i = 0; i < 20; i++) statuses.push((await running.send(rotated && i % 2 === 0 ? fresh : old)).status);
      return statuses;
    };
    const clients = Array.from({ length: 8 }, client);
    await eventually('some requests', () => running.seen() > 20);
    server.serve(keySet(one, other));
    rotated = true;
    const statuses = (await Promise.all(clients)).flat();
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(server.asked).toHaveLength(2);
  });
});
