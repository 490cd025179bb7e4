/** Streams of language models that are odd, broken or slow, and clients that are: nothing is lost, nothing stays open. */
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  gzipSync,
} from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';

import { awsEvent } from '../proxy/llm/aws-frames.ts';
import { sse } from '../proxy/llm/translations/bridge.ts';
import { chatStream, chunk } from '../proxy/llm/translations/upstream-streams.ts';
import { eventually, Http2Client } from './clients.ts';
import { type Answer, ask, Cleanup, upstream } from './gateway.ts';
import { completions, errorIn, lastError, type LlmClient, messages, responses, unnamed } from './llm-clients.ts';
import { type Facing, facing, nothingLeft, settled } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const clients: readonly LlmClient[] = [completions, messages, responses];
/** The body ends with the connection, so that every byte is the test's own. */
const OPEN = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const CUT = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const whole = sse([...chatStream, '[DONE]']);
const json = { 'content-type': 'application/json' };

interface Served extends Facing {
  /** Connections that the service has. */
  readonly open: ReadonlySet<Socket>;
}

const custom = 'provider: {custom: {formats: [{type: completions}]}}, policies: {http: {version: HTTP/1.1}}';

/** A service that answers on the bare connection, and a gateway before it. */
async function serving(
  answer: (socket: Socket) => unknown,
  { provider = custom, limit = '2Mi', idle = '5m' }: { provider?: string; limit?: string; idle?: string } = {},
): Promise<Served> {
  const open = new Set<Socket>();
  const service = cleanup.add(
    await upstream((request) => {
      const { socket } = request;
      open.add(socket);
      socket.on('close', () => open.delete(socket));
      socket.on('error', () => {});
      request.resume().on('end', () => answer(socket));
    }),
  );
  const gateway = await facing(
    cleanup,
    `frontendPolicies: {http: {maxBufferSize: ${limit}, streamIdleTimeout: ${idle}}}
routes:
- policies: {ai: {routes: {/v1/messages: messages, /v1/responses: responses}}}
  backends: [{ai: {name: s, hostOverride: "127.0.0.1:${service.port}", pathPrefix: /v1, ${provider}}}]`,
  );
  return { ...gateway, open };
}

function streamed(client: LlmClient): string {
  return JSON.stringify(client.body({ stream: true }));
}

/** The same as it goes over the wire. */
function requestOf(client: LlmClient, more = ''): string {
  const body = streamed(client);
  return `POST ${client.path} HTTP/1.1\r\nhost: a\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
}

function post({ http }: Facing, client: LlmClient): Promise<Answer> {
  return ask(http, client.path, { method: 'POST', headers: json, body: streamed(client) });
}

describe('a stream that is written in another way', () => {
  const ways: Readonly<Record<string, string>> = {
    'with CR LF': whole.replaceAll('\n', '\r\n'),
    'with CR': whole.replaceAll('\n', '\r'),
    'with comments': `: hello\n\n${whole.replaceAll('\n\n', '\n: ping\n\n:\n\n')}`,
    'with ids and times': whole.replaceAll('data: ', 'id: 7\nretry: 10\ndata: '),
    'with a mark of byte order': `\uFEFF${whole}`,
    'without spaces': whole.replaceAll('data: ', 'data:'),
    'without a last blank line': whole.slice(0, -2),
    'without [DONE]': sse(chatStream),
    'with an event in many lines': whole.replaceAll('"choices"', '\ndata: "choices"'),
    'with what is no JSON among it': `data: {"half\n\n${whole.replace('\n\n', '\n\ndata: ping\n\ndata: 5\n\ndata:\n\n')}`,
  };

  test.each(Object.entries(ways))('%s: says the same', async (_way, text) => {
    let bytes = whole;
    const gateway = await serving((socket) => socket.end(`${OPEN}${bytes}`));
    for (const client of clients.slice(1)) {
      bytes = whole;
      const usual = await post(gateway, client);
      bytes = text;
      const other = await post(gateway, client);
      expect([client.format, other.status, unnamed(other.body)]).toEqual([client.format, 200, unnamed(usual.body)]);
    }
    bytes = text;
    expect((await post(gateway, completions)).body).toBe(text);
  });

  test.each(['\n', '\r\n', '\r'])('byte by byte, with lines that end in %j: says the same', async (end) => {
    const usual = await serving((socket) => socket.end(`${OPEN}${whole}`));
    const gateway = await serving(async (socket) => {
      socket.setNoDelay(true).write(OPEN);
      for (const byte of Buffer.from(whole.replaceAll('\n', end))) {
        socket.write(Uint8Array.of(byte));
        await turn();
      }
      socket.end();
    });
    for (const client of clients.slice(1))
      expect(unnamed((await post(gateway, client)).body)).toBe(unnamed((await post(usual, client)).body));
    expect((await post(gateway, completions)).body).toBe(whole.replaceAll('\n', end));
  });

  test('compressed twice: says the same', async () => {
    const twice = brotliCompressSync(gzipSync(whole));
    const head = OPEN.replace('\r\n\r\n', '\r\ncontent-encoding: gzip, br\r\n\r\n');
    const gateway = await serving((socket) => socket.write(head, () => socket.end(twice)));
    expect((await post(gateway, completions)).body).toBe(whole);
    expect((await post(gateway, messages)).body).toContain('weather');
  });

  test('compressed, and cut behind its last event: is whole', async () => {
    const bytes = gzipSync(whole);
    const head = OPEN.replace('\r\n\r\n', '\r\ncontent-encoding: gzip\r\n\r\n');
    // Without the checksum at its end.
    const gateway = await serving((socket) => socket.write(head, () => socket.end(bytes.subarray(0, -8))));
    for (const client of clients) expect((await post(gateway, client)).body).not.toContain('was cut');
  });

  const codings = {
    gzip: () => createGzip(),
    deflate: () => createDeflate(),
    br: () => createBrotliCompress(),
    zstd: () => createZstdCompress(),
  };

  test.each(Object.entries(codings))('compressed with %s: says the same, event by event', async (coding, encoder) => {
    let release = (): void => {};
    const gateway = await serving((socket) => {
      socket.write(OPEN.replace('\r\n\r\n', `\r\ncontent-encoding: ${coding}\r\n\r\n`));
      const encode = encoder();
      encode.pipe(socket);
      encode.write(sse(chatStream.slice(0, 3)));
      encode.flush(coding === 'br' ? constants.BROTLI_OPERATION_FLUSH : undefined);
      release = () => void encode.end(sse([...chatStream.slice(3), '[DONE]']));
    });
    for (const client of clients) {
      const raw = gateway.connect(requestOf(client, 'connection: close\r\n'));
      // The first text is here before the rest has left.
      expect(await raw.until((text) => text.includes('Let me '))).not.toContain('content-encoding');
      release();
      await raw.closed;
      expect(raw.text).toContain('weather');
    }
  });
});

describe('an event', () => {
  const text = 'ä'.repeat(512 * 1024);

  test('of a megabyte passes', async () => {
    const gateway = await serving((socket) =>
      socket.end(`${OPEN}${sse([chunk({ content: text }), chunk({}, 'stop')])}`),
    );
    for (const client of clients) {
      const { status, body } = await post(gateway, client);
      expect([client.format, status, body.includes(text)]).toEqual([client.format, 200, true]);
    }
  });

  test.each(['in one line', 'in many', 'without an end'])(
    'beyond the limit, %s, ends the stream with an error',
    async (how) => {
      const line = `data: ${'x'.repeat(70_000)}\n`;
      const big = {
        'in one line': line,
        'in many': `data: ${'x'.repeat(900)}\n`.repeat(100),
        'without an end': line.trim(),
      };
      const gateway = await serving(
        (socket) => socket.write(`${OPEN}${sse(chatStream.slice(0, 3))}${big[how as keyof typeof big]}`),
        { limit: '64Ki' },
      );
      for (const client of clients) {
        const { status, body } = await post(gateway, client);
        expect([client.format, status, lastError(client, body)]).toEqual([
          client.format,
          200,
          'upstream stream was cut: an event is too large',
        ]);
        expect(body).toContain('look');
      }
      await eventually('the service is left', () => gateway.open.size === 0);
      await nothingLeft(gateway);
    },
  );
});

describe('what is no stream', () => {
  const answered = (status: string, type: string, body: string): string =>
    `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  test('but HTML that says 200 is a bad gateway', async () => {
    const gateway = await serving((socket) =>
      socket.write(answered('200 OK', 'text/html; charset=utf-8', '<h1>hi</h1>')),
    );
    for (const client of clients) {
      const { status, body } = await post(gateway, client);
      expect([client.format, status, errorIn(client, body) !== undefined]).toEqual([client.format, 502, true]);
    }
  });

  test('but an error that says 200 is a bad gateway where it has to be understood, and never an empty stream', async () => {
    const body = '{"error":{"message":"Quota is used up","type":"quota"}}';
    const gateway = await serving((socket) => socket.write(answered('200 OK', 'application/json', body)));
    for (const client of clients.slice(1))
      expect([client.format, (await post(gateway, client)).status]).toEqual([client.format, 502]);
    const native = await post(gateway, completions);
    expect([native.headers['content-type'], native.body]).toEqual(['application/json', body]);
  });

  test('but an error is given with its status', async () => {
    const body = '{"error":{"message":"Slow down","type":"tokens"}}';
    const gateway = await serving((socket) => socket.write(answered('429 Slow', 'application/json', body)));
    for (const client of clients) {
      const got = await post(gateway, client);
      expect([client.format, got.status, errorIn(client, got.body)?.message]).toEqual([
        client.format,
        429,
        'Slow down',
      ]);
    }
  });

  test('but nothing at all ends as a stream of nothing, or with an error', async () => {
    const gateway = await serving((socket) => socket.end(OPEN));
    for (const client of clients)
      expect([client.format, (await post(gateway, client)).status]).toEqual([client.format, 200]);
    await nothingLeft(gateway);
  });
});

describe('a service that does not come to its end', () => {
  const some = sse(chatStream.slice(0, 3));
  const part = `${CUT}${some.length.toString(16)}\r\n${some}\r\n`.replace(
    some.length.toString(16),
    Buffer.byteLength(some).toString(16),
  );
  const cuts: Readonly<Record<string, (socket: Socket) => unknown>> = {
    'closes in the middle': (socket) => socket.end(part),
    'closes in the middle of a chunk': (socket) => socket.end(`${part}ff\r\ndata: {"ch`),
    'breaks the framing': (socket) => socket.write(`${part}zz\r\n`),
  };

  test.each(Object.entries(cuts))(
    '%s: ends the stream of every client with its own kind of error',
    async (_how, cut) => {
      const gateway = await serving(cut);
      for (const client of clients) {
        const { status, body } = await post(gateway, client);
        expect([client.format, status, lastError(client, body)]).toEqual([
          client.format,
          200,
          expect.stringContaining('upstream stream was cut'),
        ]);
      }
      await eventually('the service is left', () => gateway.open.size === 0);
      await nothingLeft(gateway);
    },
  );

  test('resets in the middle: ends the stream of every client with its own kind of error', async () => {
    const gateway = await serving((socket) => socket.write(part));
    for (const client of clients) {
      const raw = gateway.connect(requestOf(client));
      await raw.until((text) => text.includes('look'));
      for (const socket of gateway.open) socket.resetAndDestroy();
      expect(await raw.until((text) => text.endsWith('0\r\n\r\n'))).toContain('upstream stream was cut');
      raw.close();
    }
    await nothingLeft(gateway);
  });

  test('stalls: every client is told in its own words, and the service left', async () => {
    const gateway = await serving((socket) => socket.write(part), { idle: '150ms' });
    for (const client of clients) {
      const { body } = await post(gateway, client);
      expect(body).toContain('look');
      expect([client.format, lastError(client, body)]).toEqual([
        client.format,
        'upstream stream was cut: nothing came for 150ms',
      ]);
    }
    await eventually('the service is left', () => gateway.open.size === 0);
    await nothingLeft(gateway);
  });

  test('hangs up after it has said everything: that is a regular end', async () => {
    const chunked = `${Buffer.byteLength(whole).toString(16)}\r\n${whole}\r\n`;
    const gateway = await serving((socket) => socket.end(`${CUT}${chunked}`));
    for (const client of clients) expect((await post(gateway, client)).body).not.toContain('was cut');
  });

  test('breaks what it has compressed: ends the stream with an error', async () => {
    const head = OPEN.replace('\r\n\r\n', '\r\ncontent-encoding: gzip\r\n\r\n');
    const gateway = await serving((socket) => socket.end(`${head}no gzip at all`));
    for (const client of clients)
      expect([client.format, lastError(client, (await post(gateway, client)).body)]).toEqual([
        client.format,
        expect.stringContaining('upstream stream was cut'),
      ]);
  });
});

describe('frames of Bedrock', () => {
  const aws = 'policies: {http: {version: HTTP/1.1}, backendAuth: {aws: {accessKeyId: a, secretAccessKey: s}}}';
  const provider = `provider: {bedrock: {region: eu-west-1, model: m}}, ${aws}`;
  const good = Buffer.concat([
    awsEvent('messageStart', { role: 'assistant' }),
    awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Rain' } }),
  ]);
  const frame = Buffer.from(awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'never' } }));
  const flipped = (at: number): Buffer => Buffer.from(frame.map((byte, index) => (index === at ? byte ^ 1 : byte)));
  const bad: Readonly<Record<string, Buffer>> = {
    'with a bad checksum of the frame': flipped(frame.length - 1),
    'with a bad checksum of the prelude': flipped(8),
    'with another payload': flipped(frame.length - 10),
    'with a length beyond everything': Buffer.from('ffffffff00000000', 'hex'),
    'that are cut': frame.subarray(0, -3),
    'of nothing but text': Buffer.from('<html>502 Bad Gateway</html>'),
  };
  const head = OPEN.replace('text/event-stream', 'application/vnd.amazon.eventstream');

  test.each(Object.entries(bad))('%s end the stream with an error, after all that was good', async (_how, bytes) => {
    const gateway = await serving(
      (socket) => {
        socket.write(head);
        socket.end(Buffer.concat([good, bytes]));
      },
      { provider },
    );
    for (const client of clients) {
      const { status, body } = await post(gateway, client);
      expect([client.format, status, body.includes('Rain'), body.includes('never')]).toEqual([
        client.format,
        200,
        true,
        false,
      ]);
      expect([client.format, lastError(client, body)]).toEqual([client.format, expect.stringContaining('was cut')]);
    }
    await nothingLeft(gateway);
  });
});

describe('a client', () => {
  const event = sse([chunk({ content: 'word '.repeat(2000) })]);
  /** Writes as long as it is let. */
  const endless = (socket: Socket): void => {
    socket.write(OPEN);
    const more = (): void => {
      while (!socket.destroyed && socket.write(event));
    };
    socket.on('drain', more);
    more();
  };

  test.each(clients.map((client) => [client.format, client] as const))(
    'of %s that reads slowly holds back the service, and one that goes away lets it go',
    async (_format, client) => {
      const gateway = await serving(endless);
      const raw = gateway.connect(requestOf(client));
      raw.socket.pause();
      const written = (): number => [...gateway.open][0]?.bytesWritten ?? 0;
      const held = await settled('what the service could write', written);
      expect(held).toBeGreaterThan(0);
      // What the buffers of four sockets hold, not what a stream does.
      expect(held).toBeLessThan(32 * 1024 * 1024);
      raw.socket.resume();
      await eventually('it goes on', () => written() > held);
      raw.close();
      await eventually('the service is left', () => gateway.open.size === 0);
      await nothingLeft(gateway);
    },
  );

  test('of HTTP/2 that resets its stream lets the service go, and its other streams live', async () => {
    const gateway = await serving((socket) => socket.write(`${OPEN}${sse(chatStream.slice(0, 3))}`));
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const streams = clients.map((one) => {
      const stream = client.stream({ ':method': 'POST', ':path': one.path, ...json });
      const said = { text: '' };
      stream.on('data', (part: Buffer) => (said.text += part.toString()));
      stream.end(streamed(one));
      return { stream, said };
    });
    await eventually('all stream', () => streams.every(({ said }) => said.text.includes('look')));
    streams[0]?.stream.close();
    await eventually('one service is left', () => gateway.open.size === 2);
    for (const { stream } of streams) stream.close();
    await eventually('the others are left', () => gateway.open.size === 0);
  });

  test('that asks for a second stream behind the first gets both in turn', async () => {
    const gateway = await serving((socket) => socket.end(`${OPEN}${whole}`));
    const raw = gateway.connect(`${requestOf(completions)}${requestOf(messages)}`);
    const text = await raw.until((all) => all.includes('message_stop'));
    expect(text.indexOf('[DONE]')).toBeLessThan(text.indexOf('message_start'));
  });
});
