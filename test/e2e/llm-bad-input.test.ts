/** Requests to language models that nobody can take: refused with the documented status, in the words of the client. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../proxy/exchange/attributes.ts';
import { eventually, Http2Client } from './clients.ts';
import { Cleanup, ask, upstream } from './gateway.ts';
import { clients, completions, errorIn, generateContent, messages, type LlmClient } from './llm-clients.ts';
import { facing, nothingLeft, type Facing } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LIMIT = 64 * 1024;
const limits = `frontendPolicies: {http: {maxBufferSize: ${LIMIT}}}\n`;

/** Keeps the bodies that it gets, and answers a chat completion. */
async function service() {
  const asked: { readonly encoding: string | undefined; readonly body: JsonObject }[] = [];
  const texts: string[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body = JSON.parse(text) as JsonObject;
        texts.push(text);
        asked.push({ encoding: request.headers['content-encoding'], body });
        response.setHeader('content-type', 'application/json').end(JSON.stringify(completion));
      });
    }),
  );
  return { asked, texts, port: server.port };
}

const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Rain.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
};

const routes = `{/v1/messages: messages, /v1/responses: responses, /v1/embeddings: embeddings, ":generateContent": generateContent}`;

/** A gateway whose route has one service, or whose models are many. */
async function gatewayTo(port: number, front: 'backend' | 'models'): Promise<Facing> {
  const custom = `{custom: {formats: [{type: completions}, {type: embeddings}]}}`;
  return facing(
    cleanup,
    front === 'models'
      ? `${limits}llm: {models: [{name: m, provider: ${custom}, params: {baseUrl: "http://127.0.0.1:${port}/v1", apiKey: k}}]}`
      : `${limits}routes:
- policies: {ai: {routes: ${routes}}}
  backends: [{ai: {name: one, provider: ${custom}, hostOverride: "127.0.0.1:${port}"}}]`,
  );
}

interface Bad {
  readonly what: string;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
  readonly status: number;
  /** Of the message. */
  readonly says: RegExp;
}

const json = { 'content-type': 'application/json' };

function badBodies(client: LlmClient): readonly Bad[] {
  const whole = JSON.stringify(client.body());
  const big = JSON.stringify(client.body({ user: 'u'.repeat(2 * LIMIT) }));
  const coded = (coding: string): Record<string, string> => ({ ...json, 'content-encoding': coding });
  const decoding = /request body is not|Failed to decode/;
  return [
    { what: 'nothing', body: '', status: 400, says: /JSON/ },
    { what: 'half of JSON', body: whole.slice(0, -5), status: 400, says: /JSON/ },
    { what: 'a form', body: 'model=m&input=x', status: 400, says: /JSON/ },
    { what: 'a list', body: `[${whole}]`, status: 400, says: /JSON/ },
    { what: 'a text', body: '"model"', status: 400, says: /JSON/ },
    { what: 'null', body: 'null', status: 400, says: /JSON/ },
    { what: 'a length beyond the limit', body: big, status: 413, says: /buffer limit/ },
    {
      what: 'chunks beyond the limit',
      body: big,
      headers: { ...json, 'transfer-encoding': 'chunked' },
      status: 413,
      says: /buffer limit/,
    },
    {
      what: 'a bomb of gzip',
      body: gzipSync(Buffer.alloc(64 * 1024 * 1024)),
      headers: coded('gzip'),
      status: 413,
      says: /buffer limit/,
    },
    {
      what: 'a bomb of brotli',
      body: brotliCompressSync(Buffer.alloc(4 * LIMIT)),
      headers: coded('br'),
      status: 413,
      says: /buffer limit/,
    },
    {
      what: 'a bomb of zstd',
      body: zstdCompressSync(Buffer.alloc(4 * LIMIT)),
      headers: coded('zstd'),
      status: 413,
      says: /buffer limit/,
    },
    { what: 'an unknown coding', body: whole, headers: coded('compress'), status: 415, says: /encoding|decode/ },
    { what: 'one coding called two', body: gzipSync(whole), headers: coded('gzip, br'), status: 400, says: decoding },
    {
      what: 'more codings than anybody has',
      body: gzipSync(whole),
      headers: coded('gzip, gzip, gzip, gzip'),
      status: 415,
      says: /encoding|decode/,
    },
    {
      what: 'a bomb in a bomb',
      body: brotliCompressSync(gzipSync(Buffer.alloc(64 * LIMIT))),
      headers: coded('gzip, br'),
      status: 413,
      says: /buffer limit/,
    },
    { what: 'plain text called gzip', body: whole, headers: coded('gzip'), status: 400, says: decoding },
    {
      what: 'half of gzip',
      body: gzipSync(whole).subarray(0, 40),
      headers: coded('gzip'),
      status: 400,
      says: decoding,
    },
    { what: 'gzip called brotli', body: gzipSync(whole), headers: coded('br'), status: 400, says: decoding },
    { what: 'plain text called zstd', body: whole, headers: coded('zstd'), status: 400, says: decoding },
    { what: 'plain text called deflate', body: whole, headers: coded('deflate'), status: 400, says: decoding },
  ];
}

describe.each(['backend', 'models'] as const)('before a %s', (front) => {
  test.each(clients.map((client) => [client.format, client] as const))(
    'a body of %s that cannot be read is refused in its own format, and never leaves',
    async (format, client) => {
      const { asked, port } = await service();
      const gateway = await gatewayTo(port, front);
      for (const { what, body, headers = json, status, says } of badBodies(client)) {
        const answer = await ask(gateway.http, client.path, { method: 'POST', headers, body });
        const error = errorIn(client, answer.body);
        expect([what, answer.status, error?.message ?? answer.body]).toEqual([
          what,
          status,
          expect.stringMatching(says),
        ]);
        expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-gw-reason': 'InvalidRequest' });
      }
      expect([format, asked]).toEqual([format, []]);
      const body = JSON.stringify(completions.body());
      const good = await ask(gateway.http, completions.path, { method: 'POST', headers: json, body });
      expect([good.status, good.body]).toEqual([200, expect.stringContaining('Rain.')]);
      await nothingLeft(gateway);
    },
  );

  test('a body in every coding is read, and leaves without one', async () => {
    const { asked, port } = await service();
    const { http } = await gatewayTo(port, front);
    const whole = JSON.stringify(completions.body({ user: 'ü – 天気' }));
    const codings = {
      gzip: gzipSync(whole),
      'x-gzip': gzipSync(whole),
      GZIP: gzipSync(whole),
      br: brotliCompressSync(whole),
      zstd: zstdCompressSync(whole),
      deflate: deflateSync(whole),
      'gzip, br': brotliCompressSync(gzipSync(whole)),
      'identity, Gzip': gzipSync(whole),
    };
    for (const [coding, body] of Object.entries(codings)) {
      const headers = { ...json, 'content-encoding': coding };
      const answer = await ask(http, completions.path, { method: 'POST', headers, body });
      expect([coding, answer.status]).toEqual([coding, 200]);
      expect([coding, asked.at(-1)]).toEqual([coding, { encoding: undefined, body: JSON.parse(whole) }]);
    }
  });

  test('a body without a model, or with one that is no text, is refused', async () => {
    const { asked, port } = await service();
    const { http } = await gatewayTo(port, front);
    for (const client of clients.filter((one) => one !== generateContent)) {
      for (const model of [undefined, null, 5, { name: 'm' }, ['m']]) {
        const body = JSON.stringify({ ...client.body(), model });
        const answer = await ask(http, client.path, { method: 'POST', headers: json, body });
        expect([client.format, model, answer.status]).toEqual([client.format, model, 400]);
        expect(errorIn(client, answer.body)?.message).toMatch(/model/);
      }
    }
    expect(asked).toEqual([]);
  });
});

describe('a model that nobody has', () => {
  test('is not found, in the words of each client', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayTo(port, 'models');
    for (const client of clients) {
      const answer = await ask(gateway.http, client.path.replace('/m:', '/unknown:'), {
        method: 'POST',
        headers: json,
        body: JSON.stringify(client.body({ model: 'unknown' })),
      });
      expect([client.format, answer.status]).toEqual([client.format, 404]);
      expect([client.format, errorIn(client, answer.body)?.message]).toEqual([client.format, 'Model not found']);
    }
    expect(asked).toEqual([]);
  });

  test('is none that leads elsewhere', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayTo(port, 'models');
    for (const model of ['..%2f..%2fadmin', '%2e%2e', 'a%00b', 'a%20b', '%'])
      expect(
        (
          await ask(gateway.http, `/v1beta/models/${model}:generateContent`, {
            method: 'POST',
            headers: json,
            body: JSON.stringify(generateContent.body()),
          })
        ).status,
      ).toBeGreaterThanOrEqual(400);
    expect(asked).toEqual([]);
  });
});

describe('a conversation that is not what it says', () => {
  const cases: readonly (readonly [string, LlmClient, JsonObject])[] = [
    [
      'arguments that are no JSON',
      completions,
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"city": Zür' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'ok' },
        ],
      },
    ],
    ['messages that are a text', completions, { messages: 'hello' }],
    ['messages that are nothing', completions, { messages: null }],
    ['messages of other kinds', completions, { messages: [null, 5, 'x', [], { role: 7, content: { a: 1 } }] }],
    ['tools that are none', completions, { tools: { type: 'function' }, tool_choice: 9, stop: { a: 1 } }],
    ['blocks of other kinds', messages, { messages: [{ role: 'user', content: [null, 1, { type: 'nonsense' }] }] }],
    ['a system of another kind', messages, { system: [{ text: 1 }, null], tools: [null, { name: 4 }] }],
  ];
  const services = ['anthropic', 'gemini', '{custom: {formats: [{type: completions}]}}'];

  test.each(cases)('%s: is carried as well as it can be, or refused; nothing breaks', async (_what, client, more) => {
    const server = cleanup.add(
      await upstream((request, response) => {
        let body = '';
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        // What leaves is JSON in any case.
        request.on('end', () => {
          JSON.parse(body);
          response
            .writeHead(400, json)
            .end('{"type": "error", "error": {"message": "no", "type": "invalid_request_error"}}');
        });
      }),
    );
    for (const provider of services) {
      const gateway = await facing(
        cleanup,
        `llm: {models: [{name: m, provider: ${provider}, params: {baseUrl: "http://127.0.0.1:${server.port}/v1", apiKey: k}}]}`,
      );
      const answer = await ask(gateway.http, client.path, {
        method: 'POST',
        headers: json,
        body: JSON.stringify(client.body(more)),
      });
      expect([provider, answer.status, errorIn(client, answer.body) !== undefined]).toEqual([provider, 400, true]);
    }
  });
});

/** A client is connected. */
async function underWay(gateway: Facing): Promise<boolean> {
  const { workload } = (await (await fetch(`${gateway.admin}/debug/tasks`)).json()) as { workload: string[] };
  return !(workload[0] ?? '').endsWith(': 0 connections');
}

describe('a client', () => {
  const head = (bytes: number): string =>
    `POST ${completions.path} HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`;

  test('that goes away in the middle of its body leaves nothing behind, and nobody is asked', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayTo(port, 'models');
    const client = gateway.connect(`${head(100)}{"model": "m"`);
    await eventually('the request is under way', () => underWay(gateway));
    client.close();
    await nothingLeft(gateway);
    expect(asked).toEqual([]);
  });

  test('that sends good and bad requests one behind the other gets answers in this order', async () => {
    const { asked, port } = await service();
    const gateway = await gatewayTo(port, 'models');
    const good = JSON.stringify(completions.body());
    const bodies = [good, '{', JSON.stringify(completions.body({ model: 'unknown' })), good];
    const client = gateway.connect(bodies.map((body) => `${head(body.length)}${body}`).join(''));
    const answered = (text: string): string[] => text.match(/HTTP\/1\.1 \d+/g) ?? [];
    const text = await client.until((all) => answered(all).length === 4 && all.endsWith('}'));
    expect(answered(text)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400', 'HTTP/1.1 404', 'HTTP/1.1 200']);
    expect(asked).toHaveLength(2);
  });

  test('of HTTP/2 has many requests at once, and each gets its own answer', async () => {
    const { asked, port } = await service();
    const provider = 'provider: {openAI: {}}, policies: {http: {version: HTTP/1.1}}';
    const gateway = await facing(
      cleanup,
      `routes: [{backends: [{ai: {name: one, ${provider}, hostOverride: "127.0.0.1:${port}"}}]}]`,
    );
    const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.http}`));
    const post = { ':method': 'POST', ':path': completions.path, ...json };
    const good = JSON.stringify(completions.body());
    const bodies = Array.from({ length: 12 }, (_, index) => [good, '{', '{}'][index % 3] ?? '');
    const answers = await Promise.all(bodies.map((body) => client.ask(post, body)));
    expect(answers.map(({ status }) => status)).toEqual(bodies.map((body) => (body === good ? 200 : 400)));
    for (const { status, text } of answers)
      expect(status === 200 || errorIn(completions, text) !== undefined).toBe(true);
    expect(asked).toHaveLength(4);
  });
});

describe('a body that two readers understand differently', () => {
  const chat = '"messages": [{"role": "user", "content": "Rain?"}]';

  test.each(
    [
      ['the model twice', `{"model": "dear", "model": "m", ${chat}}`],
      ['the model spelled with escapes', `{"\\u006dodel": "dear", "model": "m", ${chat}}`],
    ].flatMap(([what = '', body = '']) =>
      (['backend', 'models'] as const).flatMap((front) =>
        ['/v1/chat/completions', '/v1/images/generations'].map((path) => ({ what, body, front, path })),
      ),
    ),
  )('leaves with the one model that the gateway has read: $what, $front, $path', async ({ body, front, path }) => {
    const { asked, texts, port } = await service();
    const { http } = await gatewayTo(port, front);
    const answer = await ask(http, path, { method: 'POST', headers: json, body });
    expect(answer.status).toBe(200);
    expect(texts.map((text) => text.match(/"[^"]*"(?=\s*:\s*"(?:dear|m)")/g))).toEqual([['"model"']]);
    expect(asked[0]?.body['model']).toBe('m');
  });

  test('leaves as it came where there is but one way to read it', async () => {
    const { texts, port } = await service();
    const { http } = await gatewayTo(port, 'backend');
    const body = `{ "model":  "m", ${chat} }`;
    await ask(http, '/v1/chat/completions', { method: 'POST', headers: json, body });
    expect(texts).toEqual([body]);
  });
});
