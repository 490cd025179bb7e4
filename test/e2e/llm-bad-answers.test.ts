/** Services of language models that answer what they should not: documented statuses, in the words of each client. */
import type { Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, gunzipSync, zstdCompressSync } from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { ask, Cleanup } from './gateway.ts';
import { completions, errorIn, messages, responses, type LlmClient } from './llm-clients.ts';
import { answering, type Facing, facing, nothingLeft, type RawUpstream } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LIMIT = 64 * 1024;

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Rain – ☔.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};
const good = JSON.stringify(completion);

/** A whole answer as it goes over the wire. */
function wire(status: string, body: string | Buffer, headers: Record<string, string> = {}): Buffer {
  const bytes = Buffer.from(body);
  const fields = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`HTTP/1.1 ${status}\r\n${head.join('')}\r\n`), bytes]);
}

/** A service of chat completions, and a gateway before it. */
async function serving(answer: (socket: Socket) => void, more = ''): Promise<Facing & { service: RawUpstream }> {
  // The end of every request that the clients here send.
  const service = await answering(cleanup, answer, '}]}');
  const custom = '{custom: {formats: [{type: completions}]}}';
  const base = `{baseUrl: "http://127.0.0.1:${service.port}/v1", apiKey: k}`;
  const gateway = await facing(
    cleanup,
    `frontendPolicies: {http: {maxBufferSize: ${LIMIT}, streamIdleTimeout: 150ms}}
llm: {models: [{name: m, provider: ${custom}, params: ${base}}]}
${more}`,
  );
  return { ...gateway, service };
}

/** The one who speaks as the service does, and those who are translated. */
const clients: readonly LlmClient[] = [
  completions,
  messages,
  { ...responses, body: () => ({ model: 'm', input: [{ role: 'user', content: 'x' }], tools: [{ type: 'none' }] }) },
];

/** Bodies that end as the service waits for. */
function post(gateway: Facing, client: LlmClient) {
  const body = JSON.stringify(client.body());
  const ended = body.endsWith('}]}') ? body : JSON.stringify({ ...client.body(), tools: [{}] });
  return ask(gateway.http, client.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: ended,
  });
}

const html = '<!doctype html><html><body><h1>502</h1></body></html>';
const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));

describe('an answer that is none', () => {
  const cases: readonly (readonly [what: string, bytes: Buffer, says: RegExp])[] = [
    ['HTML that says 200', wire('200 OK', html, { 'content-type': 'text/html' }), /JSON/],
    ['nothing', wire('200 OK', ''), /JSON/],
    ['no content', Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'), /JSON/],
    ['a list', wire('200 OK', `[${good}]`), /JSON/],
    ['half of JSON', wire('200 OK', good.slice(0, -4)), /JSON/],
    ['a coding that nobody knows', wire('200 OK', good, { 'content-encoding': 'compress' }), /content-encoding/],
    ['one coding called two', wire('200 OK', gzipSync(good), { 'content-encoding': 'gzip, br' }), /not gzip, br/],
    [
      'too many codings',
      wire('200 OK', gzipSync(good), { 'content-encoding': 'br, br, br, gzip' }),
      /content-encoding/,
    ],
    ['text called gzip', wire('200 OK', good, { 'content-encoding': 'gzip' }), /not gzip/],
    ['half of gzip', wire('200 OK', gzipSync(good).subarray(0, 40), { 'content-encoding': 'gzip' }), /not gzip/],
    ['a bomb', wire('200 OK', bomb, { 'content-encoding': 'gzip' }), /limit/],
    ['a length beyond the limit', wire('200 OK', `{"a":"${'a'.repeat(LIMIT)}"}`), /limit/],
    [
      'a chunk beyond the limit',
      Buffer.from(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${(LIMIT + 1).toString(16)}\r\n${'a'.repeat(LIMIT + 1)}\r\n`,
      ),
      /limit/,
    ],
  ];

  test.each(cases)('%s: is a bad gateway', async (what, bytes, says) => {
    const gateway = await serving((socket) => socket.write(bytes));
    for (const client of clients) {
      const answer = await post(gateway, client);
      expect([what, client.format, answer.status, errorIn(client, answer.body)?.message]).toEqual([
        what,
        client.format,
        502,
        expect.stringMatching(says),
      ]);
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-gw-reason': 'UpstreamFailure' });
    }
    await nothingLeft(gateway);
  });

  test('choices that are none are no choices: what can be said is said, else it is a bad gateway', async () => {
    const odd: readonly unknown[] = [
      undefined,
      null,
      'x',
      [],
      [null],
      [{}],
      [{ message: 5 }],
      [{ message: { content: 7 } }],
    ];
    let next: unknown;
    const gateway = await serving((socket) =>
      socket.write(wire('200 OK', JSON.stringify({ ...completion, choices: next }))),
    );
    for (next of odd) {
      for (const client of clients) {
        const { status, body } = await post(gateway, client);
        expect([client.format, next, status === 502 ? errorIn(client, body) !== undefined : status]).toEqual([
          client.format,
          next,
          status === 502 ? true : 200,
        ]);
        expect(() => JSON.parse(body) as unknown).not.toThrow();
      }
    }
  });

  test('usage that is none counts nothing', async () => {
    let next: unknown;
    const gateway = await serving((socket) =>
      socket.write(wire('200 OK', JSON.stringify({ ...completion, usage: next }))),
    );
    for (next of [null, 'x', [], { prompt_tokens: 'many', completion_tokens: -1, total_tokens: 1e300 }])
      for (const client of clients) expect([next, (await post(gateway, client)).status]).toEqual([next, 200]);
  });

  test('arguments that are no JSON reach every client as they came', async () => {
    for (const source of ['{"city": "Zür', '', '{}{}', '\u0000']) {
      const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: source } };
      const message = { role: 'assistant', content: null, tool_calls: [call] };
      const body = JSON.stringify({ ...completion, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
      const gateway = await serving((socket) => socket.write(wire('200 OK', body)));
      const said = JSON.parse((await post(gateway, messages)).body) as unknown;
      expect(said).toMatchObject({
        content: [{ type: 'tool_use', name: 'weather', input: source === '' ? {} : source }],
      });
      const told = JSON.parse((await post(gateway, responses)).body) as unknown;
      expect(told).toMatchObject({ output: [{ type: 'function_call', name: 'weather' }] });
    }
  });
});

describe('an answer that is compressed', () => {
  const codings = {
    gzip: gzipSync,
    br: brotliCompressSync,
    zstd: zstdCompressSync,
    deflate: deflateSync,
    'gzip, br': (text: string) => brotliCompressSync(gzipSync(text)),
  };

  test.each(Object.entries(codings))(
    'with %s is read, and given on as the client can read it',
    async (coding, encode) => {
      const gateway = await serving((socket) =>
        socket.write(wire('200 OK', encode(good), { 'content-encoding': coding })),
      );
      const native = await post(gateway, completions);
      expect([native.status, native.headers['content-encoding']]).toEqual([200, coding]);
      const translated = await post(gateway, messages);
      expect([translated.status, translated.headers['content-encoding']]).toEqual([200, undefined]);
      expect(translated.body).toContain('Rain – ☔.');
    },
  );

  test('leaves byte by byte as it came where nobody changes it', async () => {
    const bytes = gzipSync(good);
    const gateway = await serving((socket) => socket.write(wire('200 OK', bytes, { 'content-encoding': 'gzip' })));
    const response = await fetch(`http://127.0.0.1:${gateway.http}${completions.path}`, {
      method: 'POST',
      body: JSON.stringify(completions.body()),
    });
    expect(await response.json()).toEqual(completion);
    expect(gunzipSync(bytes).toString()).toBe(good);
  });
});

describe('an error of the service', () => {
  const slow = JSON.stringify({ error: { message: 'Slow down', type: 'tokens', code: 'rate_limit_exceeded' } });
  const hints: readonly Record<string, string>[] = [
    { 'retry-after': '7' },
    { 'retry-after': 'Wed, 21 Oct 2099 07:28:00 GMT' },
    { 'retry-after-ms': '1500' },
    { 'retry-after': 'soon' },
    { 'x-ratelimit-reset-requests': '1m3s', 'x-ratelimit-remaining-requests': '0' },
    { 'anthropic-ratelimit-tokens-reset': '2099-10-21T07:28:00Z' },
  ];

  test('429 keeps its status and each kind of hint when to come again', async () => {
    for (const hint of hints) {
      const gateway = await serving((socket) => socket.write(wire('429 Too Many Requests', slow, hint)));
      for (const client of clients) {
        const answer = await post(gateway, client);
        expect([client.format, answer.status, answer.headers]).toEqual([
          client.format,
          429,
          expect.objectContaining(hint),
        ]);
        expect([client.format, errorIn(client, answer.body)?.message]).toEqual([client.format, 'Slow down']);
      }
    }
  });

  test.each(['400 Bad Request', '401 Unauthorized', '404 Not Found', '500 Oops', '529 Overloaded'])(
    '%s keeps its status, and what it says',
    async (status) => {
      const body = JSON.stringify({ error: { message: 'It is so', type: 'some_error' } });
      const gateway = await serving((socket) => socket.write(wire(status, body)));
      for (const client of clients) {
        const answer = await post(gateway, client);
        expect([client.format, answer.status]).toEqual([client.format, Number(status.slice(0, 3))]);
        expect([client.format, errorIn(client, answer.body)?.message]).toEqual([client.format, 'It is so']);
      }
    },
  );

  test('in HTML, or without a word, never looks like an answer', async () => {
    for (const body of [html, '', 'busy', '[]', '{"error": 5}', '{"error": null}']) {
      const gateway = await serving((socket) => socket.write(wire('503 Busy', body, { 'content-type': 'text/html' })));
      for (const client of clients) {
        const answer = await post(gateway, client);
        expect([body, client.format, [502, 503].includes(answer.status)]).toEqual([body, client.format, true]);
        expect(client === completions || errorIn(client, answer.body) !== undefined).toBe(true);
      }
    }
  });

  test('a redirect is not followed', async () => {
    const gateway = await serving((socket) => socket.write(wire('307 There', '', { location: 'http://10.0.0.1/' })));
    for (const client of clients) {
      const { status } = await post(gateway, client);
      expect([client.format, [307, 502].includes(status)]).toEqual([client.format, true]);
    }
    expect(gateway.service.received().match(/POST/g)).toHaveLength(clients.length);
  });
});

describe('a service that does not come to its end', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n';
  const cases: readonly (readonly [string, number, (socket: Socket) => void])[] = [
    ['hangs up before it answers', 503, (socket) => socket.destroy()],
    ['resets before it answers', 503, (socket) => socket.resetAndDestroy()],
    ['closes in the middle', 502, (socket) => socket.end(`${head}{"id": 1`)],
    ['resets in the middle', 502, (socket) => socket.write(`${head}{"id": 1`, () => socket.resetAndDestroy())],
    ['stalls in the middle', 504, (socket) => socket.write(`${head}{"id": 1`)],
    ['stalls in the middle of an error', 504, (socket) => socket.write(`${head.replace('200 OK', '500 Oops')}{"err`)],
    ['speaks no HTTP', 503, (socket) => socket.end('SSH-2.0-OpenSSH_9.7\r\n')],
  ];

  test.each(cases)('%s: is told in the words of the client, and left', async (_what, status, answer) => {
    const gateway = await serving(answer);
    for (const client of clients) {
      const got = await post(gateway, client);
      expect([client.format, got.status, errorIn(client, got.body) !== undefined]).toEqual([
        client.format,
        status,
        true,
      ]);
    }
    await eventually('the service is left', () => gateway.service.sockets.size === 0);
    await nothingLeft(gateway);
  });

  test('is left when the client goes away before', async () => {
    const gateway = await serving((socket) => socket.write(`${head}{"id": 1`), '');
    const body = JSON.stringify(completions.body());
    const client = gateway.connect(
      `POST ${completions.path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually('the service is asked', () => gateway.service.received().includes(body));
    client.close();
    await eventually('the service is left', () => gateway.service.sockets.size === 0);
    await nothingLeft(gateway);
  });
});
