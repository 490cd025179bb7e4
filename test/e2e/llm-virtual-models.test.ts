import { afterEach, describe, expect, test } from '@jest/globals';
import { Agent, setGlobalDispatcher } from 'undici';

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
