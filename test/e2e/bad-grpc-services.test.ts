/** Services of policies over gRPC that are down, slow, cut off or talk nonsense, and answers that would break a message. */
import { constants, type ServerHttp2Stream } from 'node:http2';

import { afterEach, describe, expect, test } from '@jest/globals';

import { signer, token, ISSUER } from '../proxy/jwt/tokens.ts';
import type { CheckResponse } from '../../proxy/services/messages/check.ts';
import { serveAuthz, serveRateLimit } from '../services/envoy.ts';
import { eventually, grpcFrame, http2Upstream, tcpUpstream } from './clients.ts';
import { type Ask, ask, Cleanup, echo, upstream } from './gateway.ts';
import { facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Behaviour = (stream: ServerHttp2Stream) => void;

const HEAD = { ':status': 200, 'content-type': 'application/grpc' } as const;

/** Sends these bytes and ends the call with that status. */
function answers(bytes: string | Buffer, trailers: Record<string, string> = { 'grpc-status': '0' }): Behaviour {
  return (stream) => {
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    stream.respond(HEAD, { waitForTrailers: true });
    stream.end(bytes);
  };
}

function prefixed(flag: number, length: number, bytes: Buffer): Buffer {
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, bytes]);
}

/** A field of a kind that no message begins with, a length beyond the end, groups without an end. */
const GARBAGE = [Buffer.from([0x07, 0xff]), Buffer.from([0x0a, 0xff, 0xff, 0xff, 0x7f, 0x01]), Buffer.alloc(64, 0x0b)];

const nonsense: readonly (readonly [string, Behaviour])[] = [
  ['resets the call', (stream) => stream.close(constants.NGHTTP2_INTERNAL_ERROR)],
  ['refuses the call', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
  ['ends the connection', (stream) => stream.session?.destroy()],
  ['says goodbye', (stream) => stream.session?.goaway(constants.NGHTTP2_PROTOCOL_ERROR, 0)],
  ['has no body and no status', (stream) => stream.respond(HEAD, { endStream: true })],
  ['has a status of 500', (stream) => stream.respond({ ':status': 500 }, { endStream: true })],
  [
    'has a status of 404 and a page',
    (stream) => (stream.respond({ ':status': 404, 'content-type': 'text/html' }), stream.end('<html>')),
  ],
  [
    'leads elsewhere',
    (stream) => stream.respond({ ':status': 302, location: 'http://127.0.0.1:1/' }, { endStream: true }),
  ],
  [
    'answers in JSON',
    (stream) => (
      stream.respond({ ':status': 200, 'content-type': 'application/json' }),
      stream.end('{"status":{"code":0}}')
    ),
  ],
  ['answers in plain text', answers('ok')],
  ['ends without a status', answers(grpcFrame(''), {})],
  ['ends with a status of words', answers(grpcFrame(''), { 'grpc-status': 'OK' })],
  ['ends with a status below nothing', answers(grpcFrame(''), { 'grpc-status': '-1' })],
  ['ends with a status nobody knows', answers(grpcFrame(''), { 'grpc-status': '99' })],
  [
    'ends with an error behind its answer',
    answers(grpcFrame(''), { 'grpc-status': '14', 'grpc-message': 'at%2010.1.2.3%0d%0a' }),
  ],
  ['ends well without an answer', answers('')],
  ['answers twice', answers(Buffer.concat([grpcFrame(''), grpcFrame('')]))],
  ['answers in part', answers(prefixed(0, 100, Buffer.alloc(10)))],
  ['answers with half a prefix', answers(Buffer.from([0, 0, 0]))],
  ['answers in what it calls compressed', answers(prefixed(1, 2, Buffer.from([1, 2])))],
  ['answers with an unknown flag', answers(prefixed(0x80, 0, Buffer.alloc(0)))],
  ['promises 4 GB', answers(prefixed(0, 0xffffffff, Buffer.alloc(10)))],
  ['sends 5 MB', answers(prefixed(0, 5_000_000, Buffer.alloc(5_000_000)))],
  ...GARBAGE.map((bytes, i) => [`sends what no message is (${i})`, answers(prefixed(0, bytes.length, bytes))] as const),
  ['has headers of 200 kB', (stream) => stream.respond({ ...HEAD, 'x-big': 'a'.repeat(200_000) }, { endStream: true })],
];

const slow: readonly (readonly [string, Behaviour])[] = [
  ['says nothing', () => {}],
  ['stops behind the head', (stream) => stream.respond(HEAD)],
  ['stops in its answer', (stream) => (stream.respond(HEAD), stream.write(Buffer.from([0, 0, 0, 0])))],
  ['stops behind its answer', (stream) => (stream.respond(HEAD), stream.write(grpcFrame('')))],
];

const SOON = 'policies: {http: {requestTimeout: 80ms}}';

interface Policy {
  readonly name: string;
  readonly reason: string;
  /** What stands in the route, given where the service is and the failure mode. */
  yaml(port: number, mode: string): string;
  readonly modes: readonly (readonly [mode: string, status: number, body: string])[];
}

const policies: readonly Policy[] = [
  {
    name: 'external authorization',
    reason: 'ExtAuth',
    yaml: (port, mode) => `extAuthz: {host: "127.0.0.1:${port}", failureMode: ${mode}, ${SOON}}`,
    modes: [
      ['deny', 403, 'external authorization failed'],
      ['{denyWithStatus: 503}', 503, 'Authorization service unavailable'],
      ['allow', 200, ''],
    ],
  },
  {
    name: 'a remote rate limit',
    reason: 'RateLimit',
    yaml: (port, mode) =>
      `remoteRateLimit: {host: "127.0.0.1:${port}", domain: d, descriptors: [{entries: [{key: a, value: '"b"'}]}], failureMode: ${mode}, ${SOON}}`,
    modes: [
      ['failClosed', 500, 'rate limit failed'],
      ['failOpen', 200, ''],
    ],
  },
];

/** A gateway with these policies on its route, in front of an upstream that echoes. */
async function guarded(yaml: string) {
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
- policies: {${yaml}}
  backends: [{host: "127.0.0.1:${backend.port}"}]
`,
  );
  return { ...gateway, reached: () => reached, ask: (path: string, options?: Ask) => ask(gateway.http, path, options) };
}

describe.each(policies)('$name', ({ yaml, modes, reason }) => {
  const cases = [...nonsense, ...slow].flatMap(([what, behave]) =>
    modes.map((mode) => [what, mode[0], behave, mode] as const),
  );

  async function expectMode(port: number, [mode, status, body]: Policy['modes'][number]) {
    const gateway = await guarded(yaml(port, mode));
    const answer = await gateway.ask('/');
    expect([answer.status, answer.headers['x-gw-reason']]).toEqual([status, status === 200 ? undefined : reason]);
    expect(answer.body).toContain(body);
    expect(answer.body).not.toContain('10.1.2.3');
    expect(gateway.reached()).toBe(status === 200 ? 1 : 0);
    expect((await gateway.ask('/free')).status).toBe(200);
    return gateway;
  }

  test.each(cases)('by a service that %s, under %s', async (_what, _mode, behave, mode) => {
    let calls = 0;
    let over = 0;
    const server = cleanup.add(
      await http2Upstream((stream) => {
        calls += 1;
        stream.on('close', () => (over += 1));
        behave(stream);
      }),
    );
    const gateway = await expectMode(server.port, mode);
    expect(calls).toBeGreaterThan(0);
    await eventually('every call is over', () => calls === over);
    expect(server.sockets.size).toBeLessThanOrEqual(2);
    await nothingLeft(gateway);
  });

  test.each(
    [
      ['closes each connection', ''],
      ['speaks HTTP/1', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
      ['sends bytes of no protocol', '\xff'.repeat(100)],
      ['sends a frame of 16 MB', '\xff\xff\xff\x00\x00\x00\x00\x00\x01'],
    ].flatMap(([what = '', bytes = '']) => modes.map((mode) => [what, mode[0], bytes, mode] as const)),
  )('by a service that %s, under %s', async (_what, _mode, bytes, mode) => {
    const server = cleanup.add(
      await tcpUpstream((socket) => void socket.once('data', () => socket.end(bytes, 'latin1'))),
    );
    const gateway = await expectMode(server.port, mode);
    await eventually('the connection is closed', () => server.sockets.size === 0);
    await nothingLeft(gateway);
  });
});

describe('an authorization service that means harm', () => {
  const check = async (response: CheckResponse) => {
    const server = cleanup.add(await serveAuthz(() => response));
    return guarded(`extAuthz: {host: "127.0.0.1:${server.port}"}`);
  };
  const header = (key: string, value: string) => ({ header: { key, value } });
  const raw = (key: string, bytes: string) => ({ header: { key, rawValue: Buffer.from(bytes, 'latin1') } });

  test('cannot break the request that it allows', async () => {
    const gateway = await check({
      okResponse: {
        headers: [
          header('x-lines', 'a\r\nx-evil: 1'),
          raw('x-raw', 'a\r\nx-evil: 1\r\n\r\nGET /smuggled HTTP/1.1\r\n'),
          header('x-zero', 'a\0b'),
          header('x evil', '1'),
          header('x-evil\r\nx-more', '1'),
          header('', 'nothing'),
          header('content-length', '0'),
          header('transfer-encoding', 'chunked'),
          header('connection', 'close, x-good'),
          header('upgrade', 'websocket'),
          header(':path', '/a b\r\nx-evil: 1'),
          header(':method', 'PO ST'),
          header('host', 'evil.test/\r\nx-evil: 1'),
          header('x-unicode', '\u010d\u010ax-evil: 1'),
          header('X-Good', 'yes'),
        ],
        headersToRemove: ['host', 'content-length', ':path', 'x\r\ny', ''],
        queryParametersToSet: [{ key: 'a b\r\n', value: 'c&d=e#\r\n' }],
        queryParametersToRemove: ['', '\r\n'],
      },
    });
    const answer = await gateway.ask('/p?x=1', { method: 'POST', body: 'hello' });
    expect(answer.status).toBe(200);
    const seen = JSON.parse(answer.body) as {
      url: string;
      method: string;
      body: string;
      headers: Record<string, string>;
    };
    expect(seen).toMatchObject({
      method: 'POST',
      body: 'hello',
      headers: { host: 'shop.test', 'x-good': 'yes', 'content-length': '5' },
    });
    expect(seen.url).toMatch(/^\/p\?x=1&[\w%=.-]+$/);
    for (const name of ['x-evil', 'x-lines', 'x-raw', 'x-zero', 'upgrade', 'transfer-encoding'])
      expect(seen.headers).not.toHaveProperty(name);
    expect(gateway.reached()).toBe(1);
  });

  test.each([0, 1, 99, 100, 101, 199, 600, 700, -1, 2 ** 31 - 1])('cannot deny with the status %i', async (code) => {
    const gateway = await check({ status: { code: 7 }, deniedResponse: { status: { code }, body: 'no' } });
    expect(await gateway.ask('/')).toMatchObject({ status: 403, body: 'no' });
    expect(gateway.reached()).toBe(0);
  });

  test('cannot break the answer that it words', async () => {
    const gateway = await check({
      status: { code: 7 },
      deniedResponse: {
        status: { code: 401 },
        headers: [
          header('x-lines', 'a\r\nx-evil: 1'),
          header('content-length', '1'),
          header('transfer-encoding', 'chunked'),
          header(':status', '200'),
          header('set-cookie', 'a=1'),
          header('set-cookie', 'b=2'),
          header('x-unicode', '\u010d\u010ax-evil: 1'),
        ],
        body: 'denied',
      },
    });
    const text = await gateway.whole('GET / HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1\.1 401 [^]*\r\n\r\ndenied$/);
    expect(text).toContain('content-length: 6');
    expect(text).not.toMatch(/^x-evil|transfer-encoding|^:status/im);
    expect(text.match(/^set-cookie: /gim)).toHaveLength(2);
  });

  test('cannot break the response of the upstream', async () => {
    const gateway = await check({
      okResponse: {
        responseHeadersToAdd: [
          header('content-length', '1'),
          header('transfer-encoding', 'chunked'),
          header('x-lines', 'a\r\nx-evil: 1'),
          header('connection', 'upgrade'),
          header(':status', '500'),
          header('x-good', 'yes'),
        ],
      },
    });
    const answer = await gateway.ask('/');
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).url).toBe('/');
    expect(answer.headers).toMatchObject({ 'x-good': 'yes' });
    expect(answer.headers).not.toHaveProperty('x-evil');
    expect(answer.headers).not.toHaveProperty('x-lines');
  });

  test('cannot allow by a refusal that says OK, nor by a status of its own', async () => {
    for (const response of [
      { status: { code: 7 }, okResponse: { headers: [header('x-user', 'root')] } },
      { status: { code: -1 } },
      { status: { code: 999_999 } },
    ]) {
      const gateway = await check(response);
      expect(await gateway.ask('/')).toMatchObject({ status: 403, body: 'external authorization failed' });
      expect(gateway.reached()).toBe(0);
    }
  });

  test('is told of claims as deep as it can read them; deeper ones are refused, whatever the failure mode', async () => {
    const one = await signer('one');
    const server = cleanup.add(await serveAuthz(() => ({})));
    const jwks = JSON.stringify({ keys: [one.jwk] });
    const gateway = await guarded(
      `jwtAuth: {issuer: ${ISSUER}, jwks: '${jwks}'}, extAuthz: {host: "127.0.0.1:${server.port}", failureMode: allow}`,
    );
    const deep = JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`);
    const text = await token(one, { claims: { deep } });
    const answer = await gateway.ask('/', { headers: { authorization: `Bearer ${text}` } });
    expect(answer).toMatchObject({ status: 403, body: 'external authorization failed' });
    expect(server.requests).toHaveLength(0);
    const shallow = await token(one, { claims: { deep: JSON.parse(`${'['.repeat(28)}${']'.repeat(28)}`) } });
    expect((await gateway.ask('/', { headers: { authorization: `Bearer ${shallow}` } })).status).toBe(200);
    await nothingLeft(gateway);
  });
});

describe('a rate limit service that means harm', () => {
  test.each([undefined, 'UNKNOWN', 'OVER_LIMIT'] as const)('refuses with the code %s', async (overallCode) => {
    const server = cleanup.add(await serveRateLimit(() => (overallCode === undefined ? {} : { overallCode })));
    const [, policy] = policies;
    const gateway = await guarded(policy?.yaml(server.port, 'failOpen') ?? '');
    expect((await gateway.ask('/')).status).toBe(429);
    expect(gateway.reached()).toBe(0);
  });

  test('cannot break the messages that it adds headers to', async () => {
    const evil = [
      { key: 'x-lines', value: 'a\r\nx-evil: 1' },
      { key: 'content-length', value: '0' },
      { key: 'transfer-encoding', value: 'chunked' },
      { key: 'x-ratelimit-limit', value: '1\r\n' },
      { key: 'x-good', value: 'yes' },
    ];
    let overallCode: 'OK' | 'OVER_LIMIT' = 'OK';
    const server = cleanup.add(
      await serveRateLimit(() => ({
        overallCode,
        requestHeadersToAdd: evil,
        responseHeadersToAdd: evil,
        rawBody: Buffer.from('slow down'),
        statuses: [
          {
            code: 'OK',
            currentLimit: { requestsPerUnit: 4_294_967_295, unit: 'YEAR' },
            limitRemaining: 4_294_967_295,
            durationUntilReset: { seconds: -5, nanos: -1 },
          },
        ],
      })),
    );
    const [, policy] = policies;
    const gateway = await guarded(policy?.yaml(server.port, 'failOpen') ?? '');
    const allowed = await gateway.ask('/', { method: 'POST', body: 'hello' });
    expect(allowed.status).toBe(200);
    expect(JSON.parse(allowed.body)).toMatchObject({ body: 'hello', headers: { 'x-good': 'yes' } });
    expect(allowed.headers).toMatchObject({ 'x-good': 'yes' });
    overallCode = 'OVER_LIMIT';
    const refused = await gateway.ask('/', { method: 'POST', body: 'hello' });
    expect(refused).toMatchObject({
      status: 429,
      body: 'slow down',
      headers: { 'content-length': '9', 'x-good': 'yes' },
    });
    for (const { headers } of [allowed, refused]) expect(headers).not.toHaveProperty('x-evil');
    expect(gateway.reached()).toBe(1);
  });
});
