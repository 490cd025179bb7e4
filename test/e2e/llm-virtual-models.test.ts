import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, setGlobalDispatcher } from 'undici';

import { decodeConfigDump } from '../../src/admin/protocol/decode-config-dump.ts';
import { modelRows } from '../../src/admin/views/models.ts';
import { eventually } from './clients.ts';
import { Cleanup } from './gateway.ts';
import { chatService as newChatService, failure, llmGateway } from './llm-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const chatService = (name: string, status?: number) => newChatService(cleanup, name, status);
const llm = (text: string, more?: string) => llmGateway(cleanup, text, more);

describe('a virtual model', () => {
  test('draws by weight, and the target is written into the body', async () => {
    const [left, right] = [await chatService('left'), await chatService('right')];
    const { says } = await llm(`
  models:
  - {name: left, provider: openAI, params: {baseUrl: "${left.url}"}, visibility: internal}
  - {name: "right-*", provider: openAI, params: {baseUrl: "${right.url}"}, visibility: internal}
  virtualModels:
  - {name: split, routing: {weighted: {targets: [{model: left}, {model: right-1}, {model: right-2, weight: 0}]}}}
`);
    const heard = new Set<unknown>();
    for (let n = 0; n < 60; n++) heard.add(await says('split'));
    expect(heard).toEqual(new Set(['from left', 'from right']));
    expect(new Set(left.seen.map(({ json }) => json['model']))).toEqual(new Set(['left']));
    expect(new Set(right.seen.map(({ json }) => json['model']))).toEqual(new Set(['right-1']));
  });

  test('decides by an expression over the body, and writes the target into paths too', async () => {
    const service = await chatService('s');
    const { ask: send, says } = await llm(`
  models:
  - {name: "*", provider: gemini, params: {baseUrl: "http://127.0.0.1:${service.port}"}, visibility: internal}
  - {name: long, provider: openAI, params: {baseUrl: "${service.url}"}, visibility: internal}
  virtualModels:
  - name: smart
    routing: {conditional: {targets: [{model: long, when: 'size(llmRequest.messages) == 1'}, {model: a/b}]}}
`);
    expect(await says('smart')).toBe('from s');
    expect(service.seen.at(-1)).toMatchObject({ url: '/v1/chat/completions', json: { model: 'long' } });
    await send('/v1beta/models/smart:generateContent?key=k', { method: 'POST', body: '{"contents": []}' });
    expect(service.seen.at(-1)?.url).toBe('/v1beta/models/a%2Fb:generateContent?key=k');
  });

  test('fails over within one request where the route tries again', async () => {
    const [first, second] = [await chatService('first', 500), await chatService('second')];
    const { says } = await llm(
      `
  models:
  - {name: first, provider: openAI, params: {baseUrl: "${first.url}"}, health: {eviction: {consecutiveFailures: 1}}}
  - {name: "*", provider: openAI, params: {baseUrl: "${second.url}"}}
  virtualModels:
  - {name: safe, routing: {failover: {targets: [{model: first, priority: 1}, {model: second, priority: 2}]}}}
`,
      `policies:
- name: {name: again, namespace: default}
  target: {route: {name: llm, namespace: default}}
  policy: {retry: {attempts: 1, codes: [500]}}
`,
    );
    expect(await says('safe')).toBe('from second');
    expect([first.seen.length, second.seen[0]?.json['model']]).toEqual([1, 'second']);
  });

  test('that would have to be written into what cannot be written is told so', async () => {
    const { ask: send } = await llm(`
  models: [{name: m, provider: openAI, params: {baseUrl: "http://127.0.0.1:1"}}]
  virtualModels: [{name: v, routing: {weighted: {targets: [{model: m}]}}}]
`);
    const body = `{"model": "v", "x": ${'{"0":'.repeat(200_000)}1${'}'.repeat(200_000)}}`;
    const answer = await send('/v1/chat/completions', { method: 'POST', body });
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'request_body_rewrite_failed']);
  });

  test('fails over to the next priority while the first is evicted', async () => {
    const [first, second] = [await chatService('first', 500), await chatService('second')];
    const { says, client } = await llm(`
  models:
  - name: first
    provider: openAI
    params: {baseUrl: "${first.url}"}
    health: {eviction: {duration: 60s, consecutiveFailures: 1}}
  - {name: second, provider: openAI, params: {baseUrl: "${second.url}", model: real}}
  virtualModels:
  - {name: safe, routing: {failover: {targets: [{model: second, priority: 2}, {model: first, priority: 1}]}}}
`);
    const told = await failure(client().chat.completions.create({ model: 'safe', messages: [] }));
    expect(told.status).toBe(500);
    expect(await says('safe')).toBe('from second');
    expect(first.seen.map(({ json }) => json['model'])).toEqual(['first']);
    expect(second.seen.map(({ json }) => json['model'])).toEqual(['real']);
  });
});

describe('what is shown of models', () => {
  async function numbers(admin: string) {
    const dump = decodeConfigDump(await (await fetch(`${admin}/config_dump`)).json());
    return Object.fromEntries(
      modelRows(dump).map(({ name, requests, pending, inputTokens, outputTokens, cost, latencyMs, health }) => [
        name,
        { requests, pending, inputTokens, outputTokens, cost, timed: (latencyMs ?? 0) > 0, health },
      ]),
    );
  }

  /** Calls are counted when their last byte has left, which may be a moment after the client has it. */
  async function settled(admin: string, calls: Readonly<Record<string, number>>) {
    await eventually('all calls are counted', async () => {
      const rows = await numbers(admin);
      return Object.entries(calls).every(([name, n]) => rows[name]?.requests === n && rows[name].pending === 0);
    });
    return numbers(admin);
  }

  test('counts a call for the virtual model and for the model that served', async () => {
    const [a, b, bad] = [await chatService('a'), await chatService('b'), await chatService('bad', 500)];
    const { says, admin, client } = await llm(
      `
  models:
  - {name: a, provider: openAI, params: {baseUrl: "${a.url}"}}
  - {name: "b-*", provider: openAI, params: {baseUrl: "${b.url}"}, visibility: internal}
  - {name: bad, provider: openAI, params: {baseUrl: "${bad.url}"}}
  virtualModels:
  - {name: drawn, routing: {weighted: {targets: [{model: a}, {model: b-1, weight: 0}]}}}
  - {name: decided, routing: {conditional: {targets: [{model: bad, when: 'llmRequest.n == 2'}, {model: b-1}]}}}
  - {name: safe, routing: {failover: {targets: [{model: a, priority: 1}, {model: b-2, priority: 2}]}}}
`,
      'config: {modelCatalog: [{inline: {providers: {openai: {models: {a: {rates: {input: "1", output: "2"}}}}}}}]}\n',
    );
    for (const name of ['a', 'drawn', 'drawn', 'decided', 'safe']) await says(name);
    await failure(client().chat.completions.create({ model: 'decided', messages: [], n: 2 }));
    const none = { pending: 0, inputTokens: 0, outputTokens: 0, cost: 0, timed: false };
    const used = (requests: number, cost: number) => ({
      requests,
      pending: 0,
      inputTokens: 3 * requests,
      outputTokens: 2 * requests,
      cost,
      timed: true,
      health: 1,
    });
    const rows = await settled(admin, { a: 4, 'b-*': 1, bad: 1, drawn: 2, decided: 2, safe: 1 });
    expect(rows).toEqual({
      a: used(4, 0.000028),
      'b-*': used(1, 0),
      bad: { ...none, requests: 1, health: 0.7 },
      drawn: used(2, 0.000014),
      decided: { ...used(1, 0), requests: 2, health: 0.7 },
      safe: used(1, 0.000007),
    });
  });

  test('goes on with what it has counted after a reload', async () => {
    const service = await chatService('s');
    const text = (more: string) => `
  models: [{name: m, provider: openAI, params: {baseUrl: "${service.url}"}}${more}]
  virtualModels: [{name: v, routing: {weighted: {targets: [{model: m}]}}}]
`;
    const { says, admin, reload } = await llm(text(''));
    await says('v');
    await settled(admin, { v: 1, m: 1 });
    const next = `gateways: {default: {port: 80}}\nllm:\n${text(', {name: other, provider: openAI}')}`;
    await expect(reload(next)).resolves.toMatchObject({ kind: 'live' });
    await says('v');
    expect(await settled(admin, { v: 2, m: 2, other: 0 })).toMatchObject({ v: { inputTokens: 6 } });
  });
});

describe('the list of models', () => {
  const config = (url: string) => `
  models:
  - {name: gpt-5, provider: openAI, params: {baseUrl: "${url}"}}
  - {name: "gpt-*", provider: openAI, params: {baseUrl: "${url}"}}
  - {name: hidden, provider: openAI, params: {baseUrl: "${url}"}, visibility: internal}
  - {name: denied, provider: openAI, params: {baseUrl: "${url}"}, authorization: {rules: [{deny: "true"}]}}
  virtualModels:
  - {name: split, routing: {weighted: {targets: [{model: gpt-5}]}}}
`;

  test('is what the client of OpenAI expects, one model too', async () => {
    const { client } = await llm(config('http://127.0.0.1:1'));
    const ids: string[] = [];
    for await (const model of client().models.list()) ids.push(model.id);
    expect(ids).toEqual(['gpt-5', 'gpt-*', 'split']);
    const one = await client().models.retrieve('gpt-7');
    expect(one).toMatchObject({ id: 'gpt-7', object: 'model', owned_by: 'openai' });
    expect(one.created).toBeGreaterThan(1_600_000_000);
    expect(await failure(client().models.retrieve('hidden'))).toMatchObject({ status: 404, code: 'model_not_found' });
    expect(await failure(client().models.retrieve('denied'))).toMatchObject({ status: 404 });
  });

  test('is what clients of Anthropic and Google expect', async () => {
    const { default: Anthropic } = await import('@anthropic-ai/sdk');
    const { GoogleGenAI } = await import('@google/genai');
    // The client of Google looks for it, and a sandboxed global has none.
    setGlobalDispatcher(new Agent());
    const gateway = await llm(config('http://127.0.0.1:1'));
    const baseURL = `http://127.0.0.1:${gateway.port(80)}`;
    const anthropic = new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 });
    const listed: string[] = [];
    for await (const model of anthropic.models.list()) listed.push(`${model.type} ${model.id} ${model.display_name}`);
    expect(listed).toEqual(['model gpt-5 gpt-5', 'model gpt-* gpt-*', 'model split split']);
    expect(await anthropic.models.retrieve('split')).toMatchObject({ type: 'model', id: 'split' });
    const google = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: baseURL } });
    const names: (string | undefined)[] = [];
    for await (const model of await google.models.list()) names.push(model.name);
    expect(names).toEqual(['models/gpt-5', 'models/gpt-*', 'models/split']);
    expect(await google.models.get({ model: 'gpt-5' })).toMatchObject({ name: 'models/gpt-5', displayName: 'gpt-5' });
  });
});

describe('a key with allowed models', () => {
  const config = (url: string) => `
  models:
  - {name: gpt-5, provider: openAI, params: {baseUrl: "${url}"}}
  - {name: "claude-*", provider: openAI, params: {baseUrl: "${url}"}}
  - {name: lab, provider: openAI, params: {baseUrl: "${url}"}}
  virtualModels:
  - {name: split, routing: {weighted: {targets: [{model: lab}]}}}
  policies:
    apiKey:
      keys:
      - {key: some, allowedModels: ["gpt-*", claude-opus, split]}
      - {key: wild, allowedModels: ["claude-opus-*"]}
      - {key: none, allowedModels: []}
      - {key: all}
`;

  test('may ask for those and sees those', async () => {
    const service = await chatService('s');
    const { client, says } = await llm(config(service.url));
    const denied = async (apiKey: string, model: string) =>
      failure(client({ apiKey }).chat.completions.create({ model, messages: [] }));
    const list = async (apiKey: string) => (await client({ apiKey }).models.list()).data.map(({ id }) => id);
    expect(await says('gpt-5', { apiKey: 'some' })).toBe('from s');
    expect(await says('split', { apiKey: 'some' })).toBe('from s');
    expect(service.seen.at(-1)?.json['model']).toBe('lab');
    expect(await denied('some', 'lab')).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect(await denied('none', 'gpt-5')).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect(await denied('unknown', 'gpt-5')).toMatchObject({ status: 401 });
    expect(await says('lab', { apiKey: 'all' })).toBe('from s');
    expect(await list('some')).toEqual(['claude-opus', 'gpt-5', 'split']);
    expect(await list('wild')).toEqual(['claude-*']);
    expect(await list('none')).toEqual([]);
    expect(await list('all')).toEqual(['claude-*', 'gpt-5', 'lab', 'split']);
  });
});
