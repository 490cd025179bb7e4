/** Services that answer what they should not where no chat is asked for, and Google's chats: a bad gateway in the words of the client. */
import { gzipSync } from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../proxy/exchange/attributes.ts';
import { ask, Cleanup, upstream } from './gateway.ts';
import { completions, embeddings, errorIn, generateContent, type LlmClient, messages } from './llm-clients.ts';
import { facing, nothingLeft } from './wire.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LIMIT = 64 * 1024;

interface Asking {
  readonly what: string;
  readonly client: LlmClient;
  readonly path: string;
  readonly provider: string;
  readonly body: JsonObject;
  /** What the service should answer. */
  readonly good: JsonObject;
  /** JSON that is no answer; none where any passes as it is. */
  readonly bad: readonly unknown[];
  /** Errors of Google for clients of OpenAI. */
  readonly translatesErrors?: boolean;
}

const rerank: LlmClient = { ...completions, format: 'rerank', path: '/v2/rerank' };
const count: LlmClient = { ...messages, format: 'anthropicTokenCount', path: '/v1/messages/count_tokens' };
const googleCount: LlmClient = { ...generateContent, path: '/v1beta/models/gemini-2.5-pro:countTokens' };
const aws = 'policies: {backendAuth: {aws: {accessKeyId: a, secretAccessKey: s}}}';
const key = 'policies: {backendAuth: {key: k}}';
const custom = (type: string): string => `{custom: {formats: [{type: ${type}}]}}, ${key}`;
const vertex = `{vertex: {projectId: p, region: us-central1}}, ${key}`;
const ranked = { query: 'q', documents: ['a', 'b'] };
const chat = { messages: [{ role: 'user', content: 'hi' }] };

const askings: readonly Asking[] = [
  {
    what: 'embeddings',
    client: embeddings,
    path: embeddings.path,
    provider: custom('embeddings'),
    body: { model: 'm', input: 'x' },
    good: { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], model: 'm' },
    bad: ['text', 7, null],
  },
  {
    what: 'embeddings of Vertex AI',
    translatesErrors: true,
    client: embeddings,
    path: embeddings.path,
    provider: vertex,
    body: { model: 'text-embedding-005', input: ['x', 'y'] },
    good: { predictions: [{ embeddings: { values: [1, 2] } }, { embeddings: { values: [3, 4] } }] },
    bad: [
      {},
      { predictions: [] },
      { predictions: [{ embeddings: { values: [1, 2] } }] },
      { predictions: [{ embeddings: {} }, { embeddings: {} }] },
      { predictions: [{ embeddings: { values: ['a'] } }, { embeddings: { values: [null] } }] },
    ],
  },
  {
    what: 'embeddings of Titan',
    client: embeddings,
    path: embeddings.path,
    provider: `{bedrock: {region: us-east-1}}, ${aws}`,
    body: { model: 'amazon.titan-embed-text-v2:0', input: 'x' },
    good: { embedding: [1, 2], inputTextTokenCount: 1 },
    bad: [{}, { embedding: 'x' }, { embedding: [] }, { embedding: [[1]] }],
  },
  {
    what: 'embeddings of Cohere at Bedrock',
    client: embeddings,
    path: embeddings.path,
    provider: `{bedrock: {region: us-east-1}}, ${aws}`,
    body: { model: 'cohere.embed-v4:0', input: ['x', 'y'] },
    good: { embeddings: { float: [[1], [2]] } },
    bad: [{}, { embeddings: [[1]] }, { embeddings: [[1], [2], [3]] }, { embeddings: [1, 2] }],
  },
  {
    what: 'rerank',
    client: rerank,
    path: rerank.path,
    provider: custom('rerank'),
    body: { model: 'm', ...ranked },
    good: { results: [{ index: 0, relevance_score: 0.5 }] },
    bad: ['text', 7, null],
  },
  {
    what: 'rerank of Bedrock',
    client: rerank,
    path: rerank.path,
    provider: `{bedrock: {region: us-east-1}}, ${aws}`,
    body: { model: 'cohere.rerank-v3-5:0', ...ranked },
    good: { results: [{ index: 1, relevanceScore: 0.5 }] },
    bad: [
      {},
      { results: 'x' },
      { results: [{ index: 2 }] },
      { results: [{ index: -1 }] },
      { results: [{ index: 0.5 }] },
    ],
  },
  {
    what: 'rerank of Vertex AI',
    translatesErrors: true,
    client: rerank,
    path: rerank.path,
    provider: vertex,
    body: { model: 'semantic-ranker-512', ...ranked },
    good: { records: [{ id: '1', score: 0.5 }] },
    bad: [{}, { records: [{ id: '7' }] }, { records: [{ id: 'x' }] }, { records: [{}] }],
  },
  {
    what: 'counts of Anthropic',
    client: count,
    path: count.path,
    provider: `{anthropic: {}}, ${key}`,
    body: { model: 'm', ...chat },
    good: { input_tokens: 5 },
    bad: ['text', 7, null],
  },
  {
    what: 'counts of Claude at Bedrock',
    client: count,
    path: count.path,
    provider: `{bedrock: {region: us-east-1}}, ${aws}`,
    body: { model: 'anthropic.claude-3-5-sonnet-20240620-v1:0', ...chat },
    good: { inputTokens: 5 },
    bad: [{}, { inputTokens: 'many' }],
  },
  {
    what: 'counts of Gemini',
    client: googleCount,
    path: googleCount.path,
    provider: `{gemini: {}}, ${key}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    good: { totalTokens: 5 },
    bad: ['text', 7, null],
  },
  {
    what: 'content of Gemini',
    client: generateContent,
    path: '/v1beta/models/gemini-2.5-pro:generateContent',
    provider: `{gemini: {}}, ${key}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    good: { candidates: [{ content: { role: 'model', parts: [{ text: 'ho' }] }, finishReason: 'STOP' }] },
    bad: ['text', 7, null, []],
  },
  {
    what: 'a chat at Gemini',
    translatesErrors: true,
    client: completions,
    path: completions.path,
    provider: `{gemini: {}}, ${key}`,
    body: { model: 'gemini-2.5-pro', ...chat },
    good: { candidates: [{ content: { role: 'model', parts: [{ text: 'ho' }] }, finishReason: 'STOP' }] },
    bad: ['text', 7, null, [], {}],
  },
];

interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** More is promised than comes. */
  readonly cut?: boolean;
}

const ROUTES = [
  '"/v1/embeddings": embeddings',
  '"/v2/rerank": rerank',
  '"/count_tokens": anthropicTokenCount',
  '":countTokens": geminiCountTokens',
  '":generateContent": generateContent',
].join(', ');

async function serving({ provider }: Asking) {
  const replies: Reply[] = [];
  const service = cleanup.add(
    await upstream((request, response) => {
      request.resume().on('end', () => {
        const { status = 200, headers = {}, body, cut = false } = replies[0] ?? { body: '' };
        const length = Buffer.byteLength(body) + (cut ? 10 : 0);
        response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
        if (cut) response.write(body, () => response.destroy());
        else response.end(body);
      });
    }),
  );
  const gateway = await facing(
    cleanup,
    `frontendPolicies: {http: {maxBufferSize: ${LIMIT}, streamIdleTimeout: 5s}}
routes:
- policies: {ai: {routes: {${ROUTES}}}}
  backends: [{ai: {name: s, hostOverride: "127.0.0.1:${service.port}", pathPrefix: /v1, provider: ${provider}}}]`,
  );
  return {
    ...gateway,
    answers(reply: Reply): void {
      replies[0] = reply;
    },
  };
}

function post(gateway: { http: number }, { path, body }: Asking) {
  const headers = { 'content-type': 'application/json' };
  return ask(gateway.http, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

describe.each(askings.map((asking) => [asking.what, asking] as const))('%s', (_what, asking) => {
  const good = JSON.stringify(asking.good);
  const page = { 'content-type': 'text/html' };
  const gzip = { 'content-encoding': 'gzip' };
  const replies: Readonly<Record<string, Reply>> = {
    'HTML that says 200': { body: '<!doctype html><h1>It works!</h1>', headers: page },
    nothing: { body: '' },
    'half of JSON': { body: good.slice(0, -2) },
    'text called gzip': { body: good, headers: gzip },
    'half of gzip': { body: gzipSync(good).subarray(0, 20), headers: gzip },
    'a bomb': { body: gzipSync(Buffer.alloc(8 * 1024 * 1024, 0x20)), headers: gzip },
    'a coding that nobody knows': { body: good, headers: { 'content-encoding': 'compress' } },
    'more than the limit': { body: `{"a":"${'a'.repeat(LIMIT)}"}` },
    'less than promised': { body: good, cut: true },
  };

  test('answers, compressed or not', async () => {
    const gateway = await serving(asking);
    for (const reply of [{ body: good }, { body: gzipSync(good), headers: gzip }]) {
      gateway.answers(reply);
      expect((await post(gateway, asking)).status).toBe(200);
    }
  });

  test('that answers what is none is a bad gateway, in the words of the client', async () => {
    const gateway = await serving(asking);
    const all = [
      ...Object.entries(replies),
      ...asking.bad.map((each) => ['', { body: JSON.stringify(each) }] as const),
    ];
    for (const [way, reply] of all) {
      gateway.answers(reply);
      const { status, headers, body } = await post(gateway, asking);
      expect([way, reply.body, status, errorIn(asking.client, body)?.message]).toEqual([
        way,
        reply.body,
        502,
        expect.any(String),
      ]);
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-gw-reason': 'UpstreamFailure' });
    }
    await nothingLeft(gateway);
  });

  test('keeps the status of an error, and never looks like an answer', async () => {
    const gateway = await serving(asking);
    const errors = [
      JSON.stringify({ error: { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED', type: 'slow' } }),
      JSON.stringify({ message: 'Slow' }),
      '<h1>Slow</h1>',
      '',
    ];
    for (const body of errors) {
      gateway.answers({ status: 429, body, headers: { 'retry-after': '7' } });
      const answer = await post(gateway, asking);
      // An error that has to be understood, and cannot be, is a bad gateway.
      const isLost = asking.translatesErrors === true && body !== errors[0];
      expect([body, answer.status, answer.headers['retry-after']]).toEqual(
        isLost ? [body, 502, undefined] : [body, 429, '7'],
      );
    }
  });
});
