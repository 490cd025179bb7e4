/** Bodies on both sides of each limit that policies have: in one piece and in drips, with a length and in chunks. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually, type RawClient } from './clients.ts';
import { Cleanup, upstream } from './gateway.ts';
import { type Facing, facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LIMIT = 1024;
const sizes = [0, 1, LIMIT - 1, LIMIT, LIMIT + 1, 10 * LIMIT];
const framings = ['length', 'chunks'] as const;
const pacings = ['one piece', 'drips'] as const;
type Framing = (typeof framings)[number];
type Pacing = (typeof pacings)[number];

interface Sent {
  readonly size: number;
  readonly framing: Framing;
  readonly pacing: Pacing;
}

const everything: readonly Sent[] = sizes.flatMap((size) =>
  framings.flatMap((framing) => pacings.map((pacing) => ({ size, framing, pacing }))),
);

/** A body whose every byte has its place. */
function bodyOf(size: number): string {
  return Array.from({ length: Math.ceil(size / 8) }, (_, i) => String(i).padStart(8, '.'))
    .join('')
    .slice(0, size);
}

/** Sends a request and gives what comes back until the connection is closed. */
async function send(gateway: Facing, { size, framing, pacing }: Sent): Promise<string> {
  const body = bodyOf(size);
  const frame = framing === 'length' ? `content-length: ${size}` : 'transfer-encoding: chunked';
  const client = gateway.connect(`POST /p HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n${frame}\r\n\r\n`);
  for (const piece of pacing === 'drips' ? (body.match(/[^]{1,100}/g) ?? []) : [body]) {
    if (piece === '' || client.socket.destroyed) continue;
    client.write(framing === 'length' ? piece : `${piece.length.toString(16)}\r\n${piece}\r\n`);
    // Each piece is a turn of its own.
    if (pacing === 'drips') await new Promise((resolve) => setImmediate(resolve));
  }
  if (framing === 'chunks' && !client.socket.destroyed) client.write('0\r\n\r\n');
  await client.closed;
  return client.text;
}

/** A server that keeps the bodies it gets. */
async function keeping(statuses: number[] = []) {
  const bodies: string[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      let body = '';
      request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(statuses.shift() ?? 200).end(`got ${body.length}`);
      });
      request.on('error', () => {});
    }),
  );
  return { bodies, port: server.port };
}

async function guarded(policies: string, statuses: number[] = [], more = '') {
  const backend = await keeping(statuses);
  const gateway = await facing(
    cleanup,
    `${more}routes: [{policies: {${policies}}, backends: [{host: "127.0.0.1:${backend.port}"}]}]\n`,
  );
  return { gateway, bodies: backend.bodies };
}

const statusOf = (text: string): number => Number(text.slice(9, 12));

describe('a buffer', () => {
  test('takes bodies up to its limit, and nothing of larger ones goes on', async () => {
    const { gateway, bodies } = await guarded(`buffer: {request: {maxBytes: ${LIMIT}}}`);
    for (const sent of everything) {
      const text = await send(gateway, sent);
      const fits = sent.size <= LIMIT;
      expect({ sent, status: statusOf(text) }).toEqual({ sent, status: fits ? 200 : 413 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: fits ? [bodyOf(sent.size)] : [] });
    }
    await nothingLeft(gateway);
  });

  test('that fails open streams what is larger, whole', async () => {
    const { gateway, bodies } = await guarded(`buffer: {request: {maxBytes: ${LIMIT}, failureMode: failOpen}}`);
    for (const sent of everything) {
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: 200 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: [bodyOf(sent.size)] });
    }
    await nothingLeft(gateway);
  });

  test('of a response refuses what is larger with 502, and leaves the upstream nothing to send', async () => {
    for (const size of [LIMIT, LIMIT + 1]) {
      for (const chunked of [false, true]) {
        const backend = cleanup.add(
          await upstream((_request, response) => {
            if (!chunked) response.setHeader('content-length', size);
            for (const piece of bodyOf(size).match(/[^]{1,100}/g) ?? []) response.write(piece);
            response.end();
          }),
        );
        const gateway = await facing(
          cleanup,
          `routes: [{policies: {buffer: {response: {maxBytes: ${LIMIT}}}}, backends: [{host: "127.0.0.1:${backend.port}"}]}]\n`,
        );
        const text = await send(gateway, { size: 0, framing: 'length', pacing: 'one piece' });
        expect([size, chunked, statusOf(text)]).toEqual([size, chunked, size === LIMIT ? 200 : 502]);
        expect(text.includes(bodyOf(100))).toBe(size === LIMIT);
        await nothingLeft(gateway);
      }
    }
  });

  test('waits no longer than the request may, and not for a client that has left', async () => {
    const { gateway, bodies } = await guarded('buffer: {request: {}}, timeout: {requestTimeout: 60ms}');
    const begin = (): RawClient => gateway.connect('POST / HTTP/1.1\r\nhost: shop.test\r\ncontent-length: 5\r\n\r\nab');
    const late = begin();
    expect(await late.until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 504 /);
    late.close();
    const client = begin();
    await eventually('it is sent', () => client.socket.bytesWritten > 0);
    client.socket.destroy();
    await nothingLeft(gateway);
    expect(bodies).toEqual([]);
  });
});

describe('a body for an authorization service', () => {
  async function asked(more: string) {
    const service = await keeping();
    const { gateway, bodies } = await guarded(
      `extAuthz: {host: "127.0.0.1:${service.port}", protocol: {http: {}}, failureMode: allow, includeRequestBody: {maxRequestBytes: ${LIMIT}${more}}}`,
    );
    return { gateway, bodies, questions: service.bodies };
  }

  test('is refused when it is larger than the limit: nobody is asked and nothing goes on', async () => {
    const { gateway, bodies, questions } = await asked('');
    for (const sent of everything) {
      const fits = sent.size <= LIMIT;
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: fits ? 200 : 413 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: fits ? [bodyOf(sent.size)] : [] });
      expect({ sent, questions: questions.splice(0) }).toEqual({ sent, questions: fits ? [bodyOf(sent.size)] : [] });
    }
    await nothingLeft(gateway);
  });

  test('is told in part when that is allowed, and goes on whole', async () => {
    const { gateway, bodies, questions } = await asked(', allowPartialMessage: true');
    for (const sent of everything) {
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: 200 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: [bodyOf(sent.size)] });
      const told = bodyOf(sent.size).slice(0, LIMIT);
      expect({ sent, questions: questions.splice(0) }).toEqual({ sent, questions: [told] });
    }
    await nothingLeft(gateway);
  });
});

describe('a body that an expression reads', () => {
  const bounded = `frontendPolicies: {http: {maxBufferSize: ${LIMIT}}}\n`;

  test.each([
    ['allow', `authorization: {rules: ['size(request.body) >= 0']}`],
    ['require', `authorization: {rules: [{require: 'size(request.body) >= 0'}]}`],
  ])('is there up to the limit: beyond it a rule to %s fails, and nothing goes on', async (_mode, policies) => {
    const { gateway, bodies } = await guarded(policies, [], bounded);
    for (const sent of everything) {
      const fits = sent.size <= LIMIT;
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: fits ? 200 : 403 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: fits ? [bodyOf(sent.size)] : [] });
    }
    await nothingLeft(gateway);
  });

  test('goes on whole where the rule does without it', async () => {
    const { gateway, bodies } = await guarded(
      `authorization: {rules: ['request.path == "/p" || size(request.body) > 0']}`,
      [],
      bounded,
    );
    for (const sent of everything) {
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: 200 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: [bodyOf(sent.size)] });
    }
    await nothingLeft(gateway);
  });

  test('that breaks off is told to nobody', async () => {
    const { gateway, bodies } = await guarded(`authorization: {rules: ['size(request.body) >= 0']}`);
    for (const frame of ['content-length: 10\r\n\r\nabc', 'transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n']) {
      const client = gateway.connect(`POST / HTTP/1.1\r\nhost: shop.test\r\n${frame}`);
      await eventually('it is sent', () => client.socket.bytesWritten > 0);
      client.socket.end();
      await client.closed;
    }
    const broken = gateway.connect(
      'POST / HTTP/1.1\r\nhost: shop.test\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n',
    );
    await broken.closed;
    expect(broken.text).toMatch(/^HTTP\/1\.1 400 /);
    await nothingLeft(gateway);
    expect(bodies).toEqual([]);
  });
});

describe('a body that may have to be sent again', () => {
  const RECORDED = 64 * 1024;

  test('is, up to the limit; a larger one is sent once and its answer given', async () => {
    for (const size of [0, 100, RECORDED - 1, RECORDED, RECORDED + 1, 4 * RECORDED]) {
      for (const framing of framings) {
        const statuses = [503, 200];
        const { gateway, bodies } = await guarded('retry: {attempts: 1, codes: [503]}', statuses);
        const text = await send(gateway, { size, framing, pacing: 'one piece' });
        const again = size <= RECORDED;
        expect([size, framing, statusOf(text)]).toEqual([size, framing, again ? 200 : 503]);
        expect(bodies.map(({ length }) => length)).toEqual(again ? [size, size] : [size]);
        expect(bodies.every((body) => body === bodyOf(size))).toBe(true);
        await nothingLeft(gateway);
      }
    }
  });
});

describe('a body that is mirrored', () => {
  test('goes to both up to the limit, a larger one only where it has to', async () => {
    const mirror = await keeping();
    const { gateway, bodies } = await guarded(
      `requestMirror: {backend: {host: "127.0.0.1:${mirror.port}"}, percentage: 1}`,
      [],
      `frontendPolicies: {http: {maxBufferSize: ${LIMIT}}}\n`,
    );
    for (const sent of everything) {
      expect({ sent, status: statusOf(await send(gateway, sent)) }).toEqual({ sent, status: 200 });
      expect({ sent, bodies: bodies.splice(0) }).toEqual({ sent, bodies: [bodyOf(sent.size)] });
      await eventually('the copy', () => mirror.bodies.length === (sent.size <= LIMIT ? 1 : 0));
      expect({ sent, copies: mirror.bodies.splice(0) }).toEqual({
        sent,
        copies: sent.size <= LIMIT ? [bodyOf(sent.size)] : [],
      });
    }
    await nothingLeft(gateway);
  });
});
