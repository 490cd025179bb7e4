/** Services that ask to be left alone for a while, each in its own way: a virtual model does so, and clients are told. */
import { afterEach, describe, expect, test } from '@jest/globals';

import { eventually } from './clients.ts';
import { ask, Cleanup, upstream } from './gateway.ts';
import { chatService, llmGateway } from './llm-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Busy {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Answers everything with 429. */
async function busy({ headers = {}, body = '{"error":{"message":"Slow down","type":"tokens"}}' }: Busy) {
  const server = cleanup.add(
    await upstream((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(429, { 'content-type': 'application/json', ...headers }).end(body);
      });
    }),
  );
  return `http://127.0.0.1:${server.port}`;
}

const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);
const google = JSON.stringify({
  error: {
    code: 429,
    message: 'Quota exceeded',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '90.5s' },
    ],
  },
});

/** Seconds that each asks for, about. */
const hints: readonly (readonly [what: string, provider: string, hint: () => Busy, seconds: number])[] = [
  ['retry-after in seconds', 'openAI', () => ({ headers: { 'retry-after': '90' } }), 90],
  ['retry-after as a date', 'openAI', () => ({ headers: { 'retry-after': inSeconds(90).toUTCString() } }), 90],
  ['retry-after-ms', 'openAI', () => ({ headers: { 'retry-after-ms': '90000' } }), 90],
  ['x-ratelimit-reset in seconds', 'openAI', () => ({ headers: { 'x-ratelimit-reset': '90' } }), 90],
  [
    'x-ratelimit-reset as a time',
    'openAI',
    () => ({ headers: { 'x-ratelimit-reset': String(Math.round(inSeconds(90).getTime() / 1000)) } }),
    90,
  ],
  [
    'resets of requests and tokens',
    'openAI',
    () => ({ headers: { 'x-ratelimit-reset-requests': '1m30s', 'x-ratelimit-reset-tokens': '6m0s' } }),
    90,
  ],
  [
    'a budget of Anthropic that is used up',
    'anthropic',
    () => ({
      headers: {
        'anthropic-ratelimit-requests-remaining': '7',
        'anthropic-ratelimit-requests-reset': inSeconds(500).toISOString(),
        'anthropic-ratelimit-tokens-remaining': '0',
        'anthropic-ratelimit-tokens-reset': inSeconds(90).toISOString(),
      },
      body: '{"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}',
    }),
    90,
  ],
  ['RetryInfo of Google', 'gemini', () => ({ body: google }), 90],
];

async function routed(provider: string, hint: Busy) {
  const [base, second] = [await busy(hint), await chatService(cleanup, 'second')];
  return llmGateway(
    cleanup,
    `
  models:
  - name: first
    provider: ${provider}
    params: {baseUrl: "${base}", apiKey: k}
    health: {unhealthyExpression: "response.code == 429"}
  - {name: second, provider: openAI, params: {baseUrl: "${second.url}"}}
  virtualModels:
  - {name: safe, routing: {failover: {targets: [{model: first, priority: 1}, {model: second, priority: 2}]}}}
`,
  );
}

const body = JSON.stringify({ model: 'safe', messages: [{ role: 'user', content: 'hi' }] });
const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body };

/** When the first comes back, in seconds from now. */
async function evictedFor(admin: string): Promise<number> {
  const text = await (await fetch(`${admin}/config_dump`)).text();
  const [, minutes = '0', seconds = '0'] = /"evictedUntil": ?"(?:(\d+)m)?(\d+)(?:\.\d+)?s"/.exec(text) ?? [];
  return Number(minutes) * 60 + Number(seconds);
}

describe('a service that answers 429 with', () => {
  test.each(hints)('%s is left alone for as long, and the client is told', async (_what, provider, hint, seconds) => {
    const told = hint();
    const gateway = await routed(provider, told);
    const refused = await gateway.ask('/v1/chat/completions', post);
    expect(refused).toMatchObject({ status: 429, headers: told.headers ?? { 'retry-after': '91' } });
    expect(JSON.parse(refused.body)).toMatchObject({ error: { message: expect.any(String) } });
    await eventually('it is left alone', async () => (await evictedFor(gateway.admin)) > 0);
    const left = await evictedFor(gateway.admin);
    expect(left).toBeGreaterThan(seconds - 15);
    expect(left).toBeLessThanOrEqual(seconds + 1);
    expect(await gateway.says('safe')).toBe('from second');
  });

  test.each([
    [{}],
    [{ headers: { 'retry-after': 'soon' } }],
    [{ body: google.replace('90.5s', 'soon') }],
    [{ body: google.replace('"details"', '"other"') }],
    [{ body: '[{"error":"google.rpc.RetryInfo type.googleapis.com/google.rpc.RetryInfo"}]' }],
  ])('no hint (%j) is asked again', async (told) => {
    const gateway = await routed('openAI', told);
    for (let n = 0; n < 2; n++) expect((await gateway.ask('/v1/chat/completions', post)).status).toBe(429);
  });

  test('a hint tells the client of Google, too', async () => {
    const base = await busy({ body: google });
    const gateway = await llmGateway(
      cleanup,
      `  models: [{name: g, provider: gemini, params: {baseUrl: "${base}"}}]\n`,
    );
    const answer = await ask(gateway.port(80), '/v1beta/models/g:generateContent', {
      ...post,
      body: '{"contents":[{"parts":[{"text":"hi"}]}]}',
    });
    expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([429, '91', google]);
  });
});
