import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';

import { Http2Client } from './clients.ts';
import { Cleanup, startGateway } from './gateway.ts';
import { chatService as newChatService, failure, llmGateway } from './llm-gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const chatService = (name: string, status?: number) => newChatService(cleanup, name, status);
const llm = (text: string, more?: string) => llmGateway(cleanup, text, more);

describe('fields of bodies', () => {
  test('are set, computed and completed in their order, over what the client sent', async () => {
    const service = await chatService('s');
    const { client } = await llm(`
  models:
  - name: m
    provider: openAI
    params: {baseUrl: "${service.url}", model: pinned}
    overrides: {user: overridden, seed: 7}
    transformation:
      user: '"computed for " + llmRequest.user'
      metadata: '{"asked": llmRequest.model, "seed": llmRequest.?seed.orValue(0)}'
      stop: llmRequest.nothing
      temperature: "null"
    defaults: {temperature: 1, top_p: 0.5, stop: "."}
    finalTransformation: {n: "2", final: llmRequest.user, top_p: llmRequest.nothing}
`);
    await client().chat.completions.create({ model: 'm', messages: [], user: 'a', stop: 'x', seed: 1 });
    expect(service.seen[0]?.json).toEqual({
      model: 'pinned',
      messages: [],
      user: 'computed for a',
      seed: 7,
      metadata: { asked: 'pinned', seed: 1 },
      temperature: null,
      stop: '.',
      n: 2,
      final: 'computed for a',
    });
  });

  test('have aliases and prompts where a policy on the route says so', async () => {
    const service = await chatService('s');
    const gateway = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- policies:
    ai:
      modelAliases: {fast: gpt-mini, "old-*": gpt, "old-and-*": gpt-older}
      prompts: {prepend: [{role: system, content: Be kind.}], append: [{role: user, content: Thanks.}]}
  backends:
  - ai: {name: openai, provider: {openAI: {}}, hostOverride: "127.0.0.1:${service.port}", pathPrefix: /v1}
`),
    );
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port(80)}/v1`, apiKey: 'k', maxRetries: 0 });
    for (const model of ['fast', 'old-1', 'old-and-grey', 'gpt-5'])
      await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] });
    expect(service.seen.map(({ json }) => json['model'])).toEqual(['gpt-mini', 'gpt', 'gpt-older', 'gpt-5']);
    expect(service.seen[0]?.json['messages']).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello' },
      { role: 'user', content: 'Thanks.' },
    ]);
  });
});

describe('the section llm', () => {
  test('lives beside routes of its gateway, and asks for keys before anything', async () => {
    const service = await chatService('s');
    const gateway = await llm(
      `
  models: [{name: "*", provider: openAI, params: {baseUrl: "${service.url}"}}]
  policies: {apiKey: {keys: [{key: k}]}}
`,
      'routes: [{matches: [{path: {exact: /health}}], policies: {directResponse: {status: 200, body: ok}}}]\n',
    );
    expect((await gateway.ask('/health')).body).toBe('ok');
    const refused = await gateway.ask('/v1/chat/completions', { method: 'POST', body: '{}' });
    expect([refused.status, JSON.parse(refused.body).error.message]).toEqual([
      401,
      'api key authentication failure: no API Key found',
    ]);
    expect(await gateway.says('x', { apiKey: 'k' })).toBe('from s');
    expect(service.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  test('opens a port of its own where there is no gateway to attach to', async () => {
    const service = await chatService('s');
    const gateway = cleanup.add(
      await startGateway(`
llm:
  port: 81
  models: [{name: m, provider: openAI, params: {baseUrl: "${service.url}"}}]
  policies: {apiKey: {keys: [{key: k}]}}
`),
    );
    const client = (apiKey: string) =>
      new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port(81)}/v1`, apiKey, maxRetries: 0 });
    expect((await client('k').models.list()).data.map(({ id }) => id)).toEqual(['m']);
    const told = await failure(client('x').models.list());
    expect(told).toMatchObject({ status: 401, message: '401 api key authentication failure: invalid credentials' });
  });

  test('is shown with models, providers and health, and without keys', async () => {
    const service = await chatService('s', 500);
    const gateway = await llm(`
  models:
  - name: m
    provider: openAI
    params: {baseUrl: "${service.url}", apiKey: sk-very-secret}
    requestHeaders: {set: {authorization: Bearer also-secret, x-team: shop}}
    health: {eviction: {duration: 60s}}
    guardrails: {request: [{openAIModeration: {policies: {backendAuth: {key: sk-third-secret}}}}]}
  virtualModels:
  - {name: v, routing: {failover: {targets: [{model: m, priority: 1}]}}}
`);
    await failure(gateway.client().chat.completions.create({ model: 'm', messages: [] }));
    const text = await (await fetch(`${gateway.admin}/config_dump`)).text();
    expect(text).not.toContain('secret');
    const dump = JSON.parse(text);
    expect(dump.models).toMatchObject([
      {
        listenerKey: 'gateway/default',
        key: 'llm:model:m',
        name: 'm',
        routerKey: '/llm:router',
        kind: { concrete: { visibility: 'public', backend: '/llm:model:m' } },
      },
      { key: 'llm:virtual-model:v', kind: { virtual: { routing: { failover: { backend: '/llm:virtual-model:v' } } } } },
    ]);
    const backends = dump.backends.map(({ backend }: { backend: object }) => backend);
    expect(backends).toContainEqual({ llmRouter: { name: 'llm:router', namespace: 'default' } });
    const [{ ai }] = backends.filter((each: { ai?: { name: string } }) => each.ai?.name === '/llm:model:m');
    expect(ai.target.providers[0].rejected.m).toMatchObject({
      endpoint: { name: 'm', provider: { openAI: {} }, hostOverride: `127.0.0.1:${service.port}`, pathPrefix: '/v1' },
      info: { health: expect.any(Number), totalRequests: 1, timesEjected: 1, evictedUntil: expect.any(String) },
      capacity: 1,
    });
  });

  test('runs in worker threads, and a change of it takes effect', async () => {
    const service = await chatService('s');
    const text = (name: string) => `
gateways: {default: {port: 80}}
llm:
  models: [{name: ${name}, provider: openAI, params: {baseUrl: "${service.url}", apiKey: key-of-${name}}}]
  virtualModels: [{name: v, routing: {failover: {targets: [{model: ${name}, priority: 1}]}}}]
`;
    const gateway = cleanup.add(await startGateway(text('a'), { threads: 2 }));
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port(80)}/v1`, apiKey: 'k', maxRetries: 0 });
    await client.chat.completions.create({ model: 'v', messages: [] });
    expect(service.seen[0]).toMatchObject({ headers: { authorization: 'Bearer key-of-a' }, json: { model: 'a' } });
    await gateway.reload(text('b'));
    expect(await failure(client.chat.completions.create({ model: 'a', messages: [] }))).toMatchObject({ status: 404 });
    await client.chat.completions.create({ model: 'b', messages: [] });
    expect(service.seen.at(-1)?.headers['authorization']).toBe('Bearer key-of-b');
  });

  test('tells a trace how a model was found and what became of the body', async () => {
    const service = await chatService('s');
    const gateway = await llm(`
  models:
  - name: m
    provider: openAI
    params: {baseUrl: "${service.url}", apiKey: sk-very-secret}
    authorization: {rules: ['request.method == "POST"']}
    overrides: {seed: 1}
    transformation: {user: llmRequest.nobody}
  virtualModels: [{name: v, routing: {conditional: {targets: [{model: m, when: 'llmRequest.stream == false'}]}}}]
`);
    const watch = cleanup.add(await TraceWatch.open(gateway.admin));
    await gateway.client().chat.completions.create({ model: 'v', messages: [], stream: false });
    const text = await watch.finished();
    const events = text
      .split('\n')
      .filter((line) => line.startsWith('data:'))
      .map((line) => JSON.parse(line.slice('data:'.length)).message);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'llm',
        result: expect.objectContaining({ details: '"v" is served by m, by the model m' }),
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'llm',
        result: expect.objectContaining({ details: 'overrides: 1, transformations: 1 (from provider m)' }),
      }),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: 'authorizationResult', result: 'allow' }));
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'cel', result: { error: expect.stringContaining('nobody') } }),
    );
    expect(text).not.toContain('sk-very-secret');
  });
});

test('a client that speaks HTTP/2 in plaintext, as the library of Bedrock does, is served by services of HTTP/1.1', async () => {
  const service = await chatService('s');
  const gateway = await llm(`
  models:
  - {name: m, provider: openAI, params: {baseUrl: "${service.url}"}}
`);
  const client = cleanup.add(await Http2Client.connect(`http://127.0.0.1:${gateway.port(80)}`));
  const answer = await client.ask(
    { ':method': 'POST', ':path': '/v1/chat/completions' },
    JSON.stringify({ model: 'm', messages: [] }),
  );
  expect(answer).toMatchObject({ status: 200, text: expect.stringContaining('from s') });
});
