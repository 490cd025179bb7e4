import { request as httpRequest } from 'node:http';

import { afterEach, describe, expect, test } from '@jest/globals';

import type { RateLimitResponse } from '../../proxy/services/messages/rate-limit.ts';
import { serveRateLimit } from '../services/envoy.ts';
import { eventually } from './clients.ts';
import { ask, Cleanup, startGateway } from './gateway.ts';
import { modelService, type ModelService } from './model-service.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const CATALOG = `config:
  modelCatalog: [{inline: {providers: {openai: {models: {gpt-4o: {rates: {input: "2.50", output: "10"}}}}}}}]
`;

interface Setup {
  readonly policies: string;
  readonly tokenize?: boolean;
  readonly threads?: number;
  readonly routes?: string;
}

async function gatewayTo(
  service: ModelService,
  { policies, tokenize = false, threads, routes = '"*": completions' }: Setup,
) {
  const gateway = cleanup.add(
    await startGateway(
      `${CATALOG}
gateways: {default: {port: 80}}
routes:
- policies: ${policies}
  backends:
  - ai:
      name: service
      provider: {openAI: {}}
      hostOverride: "127.0.0.1:${service.port}"
      tokenize: ${tokenize}
      policies: {ai: {routes: {${routes}}}}
`,
      threads === undefined ? {} : { threads },
    ),
  );
  const chat = (body: object = {}, path = '/v1/chat/completions', headers: Record<string, string> = {}) =>
    ask(gateway.port(80), path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], ...body }),
    });
  return { ...gateway, chat };
}

const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
const tokens = (limit: number) =>
  `{localRateLimit: [{type: tokens, maxTokens: ${limit}, tokensPerFill: 1, fillInterval: 1h}]}`;
const remaining = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  headers['x-ratelimit-remaining'];

describe('a budget of tokens', () => {
  test('lets the request that overshoots pass, and refuses the next in the words of the format', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const { chat, logged } = await gatewayTo(service, { policies: tokens(150) });
    const first = await chat();
    expect(first.status).toBe(200);
    expect(first.headers).toMatchObject({ 'x-ratelimit-limit': '150', 'x-ratelimit-remaining': '150' });
    expect(remaining(await chat())).toBe('50');
    const refused = await chat();
    expect(refused).toMatchObject({ status: 429 });
    expect(refused.headers).toMatchObject({
      'x-ratelimit-limit': '150',
      'x-ratelimit-remaining': '0',
      'x-gw-reason': 'RateLimit',
      'content-type': 'application/json',
    });
    expect(Number(refused.headers['x-ratelimit-reset'])).toBeGreaterThan(3500);
    expect(JSON.parse(refused.body).error).toMatchObject({ message: 'rate limit exceeded', type: 'rate_limit_error' });
    expect(service.asked).toHaveLength(2);
    await logged('http.status=429', 'reason=RateLimit', 'protocol=llm');
  });

  test('comes back with its window', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const policies = '{localRateLimit: [{tokens: 50, unit: Seconds}]}';
    const { chat } = await gatewayTo(service, { policies });
    expect((await chat()).status).toBe(200);
    expect((await chat()).status).toBe(429);
    await eventually('tokens again', async () => (await chat()).status === 200);
    expect(service.asked).toHaveLength(2);
  });

  test('is one for all data threads', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const { chat } = await gatewayTo(service, { policies: tokens(1000), threads: 2 });
    const answers = [];
    // One after the other, so that each is counted before the next.
    for (let n = 0; n < 14; n++) answers.push(await chat());
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(200), ...Array(4).fill(429)]);
  });

  test('counts streams at their end, and what was told of one that its client left', async () => {
    const told = { input_tokens: 90, output_tokens: 10 };
    const service = cleanup.add(await modelService({ usage: told, format: 'messages' }));
    const gateway = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- policies: ${tokens(1000)}
  backends: [{ai: {name: s, provider: {anthropic: {}}, hostOverride: "127.0.0.1:${service.port}", policies: {ai: {routes: {"*": messages}}}}}]
`),
    );
    const body = JSON.stringify({
      model: 'm',
      max_tokens: 9,
      stream: true,
      messages: [{ role: 'user', content: 'x' }],
    });
    const options = { host: '127.0.0.1', port: gateway.port(80), path: '/v1/messages', method: 'POST', agent: false };
    const leaving = new Promise<void>((resolve) => {
      const request = httpRequest(options, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
          if (text.includes('a piece')) request.destroy();
        });
        response.on('error', () => {}).on('close', resolve);
      });
      request.on('error', () => {});
      request.end(body);
    });
    await service.next('a piece');
    await leaving;
    await gateway.logged('client went away');
    // Input, the one token of output that the beginning tells, and two for what came behind it.
    const whole = ask(gateway.port(80), '/v1/messages', { method: 'POST', body });
    service.forget();
    await service.next('a piece');
    service.end();
    expect(remaining(await whole)).toBe('907');
    const last = ask(gateway.port(80), '/v1/messages', { method: 'POST', body });
    await service.next('a piece');
    service.end();
    expect(remaining(await last)).toBe('807');
  });

  test('takes the input that is counted here at once, and settles it with what was used', async () => {
    const service = cleanup.add(
      await modelService({ usage: { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10 } }),
    );
    const { chat } = await gatewayTo(service, { policies: tokens(20), tokenize: true });
    expect(remaining(await chat())).toBe('20');
    expect(remaining(await chat())).toBe('10');
    expect((await chat()).status).toBe(429);
    const long = await chat({ messages: [{ role: 'user', content: 'word '.repeat(100) }] });
    expect(long).toMatchObject({ status: 429 });
    expect(long.headers['x-ratelimit-reset']).toBe('0');
  });

  test('gives back what a call that failed had taken, and pays for tries once', async () => {
    const service = cleanup.add(await modelService({ usage, status: 503 }));
    const retry = 'retry: {attempts: 2, codes: [503]}';
    const policies = `{localRateLimit: [{type: tokens, maxTokens: 100, fillInterval: 1h}], ${retry}}`;
    const { chat } = await gatewayTo(service, { policies, tokenize: true });
    expect((await chat()).status).toBe(503);
    const again = await chat();
    expect(again.status).toBe(503);
    expect(remaining(again)).toBe('100');
    expect(service.asked).toHaveLength(6);
  });

  test('leaves counts of tokens alone', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const { chat } = await gatewayTo(service, {
      policies: tokens(50),
      routes: '"/count_tokens": anthropicTokenCount, "*": completions',
    });
    await chat();
    expect((await chat()).status).toBe(429);
    const counted = await chat({ max_tokens: 1 }, '/v1/messages/count_tokens');
    expect(counted.status).toBe(200);
    expect(JSON.parse(counted.body).input_tokens).toBeGreaterThan(0);
  });

  test('beside a limit of requests: the headers tell of the scarcest', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const both = (requests: number, size: number) =>
      `{localRateLimit: [{requests: ${requests}, unit: Hours}, {tokens: ${size}, unit: Hours}]}`;
    const scarceTokens = await gatewayTo(service, { policies: both(500, 150) });
    expect((await scarceTokens.chat()).headers['x-ratelimit-limit']).toBe('150');
    const scarceRequests = await gatewayTo(service, { policies: both(5, 1500) });
    expect((await scarceRequests.chat()).headers).toMatchObject({
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '4',
    });
  });

  test('may depend on the request', async () => {
    const service = cleanup.add(await modelService({ usage }));
    const { chat } = await gatewayTo(service, {
      policies: `{localRateLimit: {conditional: [
        {condition: "request.headers['x-team'] == 'red'", tokens: 10, unit: Hours}, {tokens: 1000, unit: Hours}]}}`,
    });
    const red = () => chat({}, '/v1/chat/completions', { 'x-team': 'red' });
    expect([(await red()).status, (await red()).status]).toEqual([200, 429]);
    expect((await chat()).status).toBe(200);
  });
});

describe('a rate limit service that counts tokens', () => {
  const ok: RateLimitResponse = { overallCode: 'OK' };
  const hits = (request: unknown): unknown[] => {
    const { descriptors } = JSON.parse(JSON.stringify(request));
    return descriptors.map((each: { entries: { value: string }[]; hitsAddend?: { value: unknown } }) => [
      each.entries[0]?.value,
      // Zero is the default of the field in the wrapper.
      each.hitsAddend ? Number(each.hitsAddend.value ?? 0) : 'none',
    ]);
  };
  const policy = (port: number, descriptors: string) =>
    `{remoteRateLimit: {host: "127.0.0.1:${port}", domain: llm, descriptors: [${descriptors}]}}`;
  const USER = `entries: [{key: user, value: "request.headers['x-user']"}], type: tokens`;

  test('is asked without hits, and told what was used at the end', async () => {
    const limiter = cleanup.add(await serveRateLimit(() => ok));
    const service = cleanup.add(await modelService({ usage }));
    const cost = 'cost: uint(llm.cost.total * 1000000.0)';
    const { chat } = await gatewayTo(service, { policies: policy(limiter.port, `{${USER}}, {${USER}, ${cost}}`) });
    expect((await chat({}, '/x', { 'x-user': 'ann' })).status).toBe(200);
    await eventually('a report', () => limiter.requests.length === 2);
    expect(limiter.requests.map(hits)).toEqual([
      [
        ['ann', 0],
        ['ann', 0],
      ],
      // 60 × 2.50 + 40 × 10 millionths of a dollar.
      [
        ['ann', 100],
        ['ann', 550],
      ],
    ]);
  });

  test('hears of input that was counted here at once, and of the rest at the end', async () => {
    const limiter = cleanup.add(await serveRateLimit(() => ok));
    const service = cleanup.add(await modelService({ usage }));
    const { chat } = await gatewayTo(service, { policies: policy(limiter.port, `{${USER}}`), tokenize: true });
    await chat({}, '/x', { 'x-user': 'ann' });
    await eventually('a report', () => limiter.requests.length === 2);
    const [[first], [second]] = limiter.requests.map(hits) as [[[string, number]], [[string, number]]];
    expect(first[1]).toBeGreaterThan(0);
    expect(first[1] + second[1]).toBe(100);
  });

  test('refuses before the service is called, and leaves requests without its values alone', async () => {
    const limiter = cleanup.add(await serveRateLimit(() => ({ overallCode: 'OVER_LIMIT' })));
    const service = cleanup.add(await modelService({ usage }));
    const { chat } = await gatewayTo(service, { policies: policy(limiter.port, `{${USER}}`) });
    expect((await chat({}, '/x', { 'x-user': 'ann' })).status).toBe(429);
    expect(service.asked).toHaveLength(0);
    expect((await chat()).status).toBe(200);
    expect(limiter.requests).toHaveLength(1);
  });
});

test('a budget of the section llm holds for all its models together', async () => {
  const service = cleanup.add(await modelService({ usage }));
  const gateway = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
llm:
  gateways: default
  providers: [{name: p, provider: openAI, params: {baseUrl: "http://127.0.0.1:${service.port}/v1"}}]
  models: [{name: a, provider: {reference: p}}, {name: b, provider: {reference: p}}]
  policies: {localRateLimit: [{type: tokens, maxTokens: 150, fillInterval: 1h}]}
`),
  );
  const chat = (model: string) =>
    ask(gateway.port(80), '/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] }),
    });
  const statuses = [(await chat('a')).status, (await chat('b')).status, (await chat('a')).status];
  expect(statuses).toEqual([200, 200, 429]);
});
