import { gzipSync } from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';

import { type Ask, ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Seen {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
  readonly json: Record<string, unknown>;
}

/** A service of chat completions that keeps what it was asked and answers with its name. */
async function chatService(name: string, status = 200) {
  const seen: Seen[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      let body = '';
      request.setEncoding('latin1');
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const json = body.startsWith('{') ? JSON.parse(body) : {};
        seen.push({ url: request.url ?? '', headers: request.headers, body, json });
        if (json.stream === true) return stream(response, name);
        response.writeHead(status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(status === 200 ? completion(name, json.model) : { error: { message: 'busy' } }));
      });
    }),
  );
  return { seen, url: `http://127.0.0.1:${server.port}/v1`, port: server.port };
}

type Response = Parameters<Parameters<typeof upstream>[0]>[1];

function stream(response: Response, name: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const chunk = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: name, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  response.write(chunk({ role: 'assistant', content: 'from ' }, null));
  response.write(chunk({ content: name }, null));
  response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
}

function completion(name: string, model: unknown): object {
  return {
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: `from ${name}` }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  };
}

async function llm(text: string, more = '') {
  const gateway = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\n${more}llm:\n${text}`));
  const port = gateway.port(80);
  const client = (options: { apiKey?: string; headers?: Record<string, string> } = {}) =>
    new OpenAI({
      baseURL: `http://127.0.0.1:${port}/v1`,
      apiKey: options.apiKey ?? 'client-key',
      defaultHeaders: options.headers ?? {},
      maxRetries: 0,
    });
  const says = async (model: string, options: { apiKey?: string; headers?: Record<string, string> } = {}) => {
    const answer = await client(options).chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hello' }],
    });
    return answer.choices[0]?.message.content;
  };
  return { ...gateway, client, says, ask: (path: string, options?: Ask) => ask(port, path, options) };
}

/** What the client of OpenAI makes of a refusal. */
async function failure(call: Promise<unknown>) {
  try {
    await call;
  } catch (error) {
    if (error instanceof OpenAI.APIError) {
      const { status, code, type, message } = error;
      return { status, code, type, message };
    }
    throw error;
  }
  throw new Error('the call succeeded');
}

describe('the model of a request', () => {
  test('goes to the entry with the most literal characters, whatever the order of the file', async () => {
    const [any, gpt, mini] = [await chatService('any'), await chatService('gpt'), await chatService('mini')];
    const { says } = await llm(`
  models:
  - {name: "*", provider: openAI, params: {baseUrl: "${any.url}", apiKey: k-any}}
  - {name: "gpt-*", provider: openAI, params: {baseUrl: "${gpt.url}", apiKey: k-gpt}}
  - {name: gpt-5-mini, provider: openAI, params: {baseUrl: "${mini.url}", apiKey: k-mini, model: real-mini}}
`);
    expect(await says('gpt-5-mini')).toBe('from mini');
    expect(await says('gpt-5')).toBe('from gpt');
    expect(await says('other')).toBe('from any');
    expect(mini.seen[0]).toMatchObject({
      url: '/v1/chat/completions',
      json: { model: 'real-mini' },
      headers: { authorization: 'Bearer k-mini' },
    });
    expect(gpt.seen[0]?.json['model']).toBe('gpt-5');
    expect(any.seen[0]?.headers['authorization']).toBe('Bearer k-any');
  });

  test('is chosen by headers among entries of one name', async () => {
    const [gold, plain] = [await chatService('gold'), await chatService('plain')];
    const { says } = await llm(`
  models:
  - name: m
    provider: openAI
    params: {baseUrl: "${gold.url}"}
    matches: [{headers: [{name: x-tier, value: {exact: gold}}]}, {headers: [{name: x-tier, value: {regex: "plat.*"}}]}]
  - {name: m, provider: openAI, params: {baseUrl: "${plain.url}"}}
`);
    expect(await says('m')).toBe('from plain');
    expect(await says('m', { headers: { 'x-tier': 'gold' } })).toBe('from gold');
    expect(await says('m', { headers: { 'x-tier': 'platinum' } })).toBe('from gold');
  });

  test('is streamed to the client of the vendor', async () => {
    const service = await chatService('live');
    const { client } = await llm(`
  models: [{name: m, provider: openAI, params: {baseUrl: "${service.url}"}}]
`);
    const chunks = await client().chat.completions.create({ model: 'm', messages: [], stream: true });
    let text = '';
    for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('from live');
  });

  test('is found in a body that came compressed, in a form, in a path and in none', async () => {
    const service = await chatService('s');
    const { ask: send, client } = await llm(`
  models:
  - {name: m, provider: openAI, params: {baseUrl: "${service.url}"}}
  - {name: g, provider: gemini, params: {baseUrl: "http://127.0.0.1:${service.port}"}}
`);
    const body = gzipSync(JSON.stringify({ model: 'm', messages: [] }));
    const zipped = await send('/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'content-encoding': 'gzip' },
    });
    expect(zipped.status).toBe(200);
    const image = await client().images.edit({
      model: 'm',
      prompt: 'a cat',
      image: new File([Buffer.from('png')], 'cat.png', { type: 'image/png' }),
    });
    expect(image).toBeDefined();
    expect(service.seen.at(-1)).toMatchObject({ url: '/v1/images/edits' });
    expect(service.seen.at(-1)?.body).toContain('a cat');
    await send('/v1beta/models/g:generateContent', { method: 'POST', body: '{"contents": []}' });
    expect(service.seen.at(-1)?.url).toBe('/v1beta/models/g:generateContent');
    const nothing = await send('/v1/files');
    expect([nothing.status, JSON.parse(nothing.body).error.code]).toEqual([400, 'invalid_request_body']);
  });

  test('has the policies of its provider, and its own before those', async () => {
    const service = await chatService('s');
    const { says } = await llm(`
  providers:
  - name: shared
    provider: openAI
    params: {baseUrl: "${service.url}", apiKey: shared-key}
    defaults:
      defaults: {temperature: 0.5, top_p: 0.9}
      overrides: {store: false}
      requestHeaders: {set: {x-team: shop}}
  models:
  - {name: m, provider: {reference: shared}, params: {model: real}, defaults: {temperature: 0}}
`);
    await says('m');
    expect(service.seen[0]).toMatchObject({
      headers: { authorization: 'Bearer shared-key', 'x-team': 'shop' },
      json: { model: 'real', temperature: 0, top_p: 0.9, store: false },
    });
  });
});

describe('a request for a model that is not to be had', () => {
  const models = (url: string) => `
  models:
  - {name: m, provider: openAI, params: {baseUrl: "${url}"}}
  - {name: hidden, provider: openAI, params: {baseUrl: "${url}"}, visibility: internal}
  - name: rich
    provider: openAI
    params: {baseUrl: "${url}"}
    authorization: {rules: ['request.headers["x-tier"] == "gold"']}
  virtualModels:
  - {name: empty, routing: {weighted: {targets: [{model: m, weight: 0}]}}}
  - {name: none, routing: {conditional: {targets: [{model: m, when: "llmRequest.user == 'a'"}]}}}
  - {name: other, routing: {weighted: {targets: [{model: rich}]}}}
`;

  test.each([
    ['nobody', 404, 'model_not_found', 'Model not found'],
    ['hidden', 404, 'model_not_found', 'Model not found'],
    ['rich', 403, 'model_authorization_denied', 'Model authorization denied'],
    ['empty', 404, 'virtual_model_not_resolved', 'Virtual model empty could not be resolved'],
    ['none', 400, 'virtual_model_no_matching_target', 'Virtual model none did not match any conditional target'],
    ['other', 403, 'model_authorization_denied', 'Model authorization denied'],
  ])('%s is told so as the client expects it', async (model, status, code, message) => {
    const service = await chatService('s');
    const { client } = await llm(models(service.url));
    const told = await failure(client().chat.completions.create({ model, messages: [] }));
    expect(told).toEqual({ status, code, type: 'invalid_request_error', message: `${status} ${message}` });
    expect(service.seen).toEqual([]);
  });

  test('is let in where the rules of the model hold', async () => {
    const service = await chatService('s');
    const { says } = await llm(models(service.url));
    expect(await says('rich', { headers: { 'x-tier': 'gold' } })).toBe('from s');
  });

  test.each([
    ['no JSON', '{', {}, 400, 'invalid_request_body'],
    ['a list', '[]', {}, 400, 'invalid_request_body'],
    ['no model', '{}', {}, 400, 'missing_model'],
    ['a model that is a number', '{"model": 5}', {}, 400, 'missing_model'],
    ['an empty model', '{"model": ""}', {}, 400, 'missing_model'],
    ['a coding that is not known', '{}', { 'content-encoding': 'lzma' }, 415, 'request_body_decode_failed'],
    ['a coding that is a lie', '{}', { 'content-encoding': 'gzip' }, 400, 'request_body_decode_failed'],
    ['too much', `{"model": "${'m'.repeat(3_000_000)}"}`, {}, 413, 'request_body_too_large'],
    [
      'a form without a model',
      '--x\r\n\r\n--x--\r\n',
      { 'content-type': 'multipart/form-data; boundary=x' },
      400,
      'missing_model',
    ],
    ['a form without a boundary', 'x', { 'content-type': 'multipart/form-data' }, 400, 'invalid_request_body'],
    [
      'a form cut off',
      '--x\r\ncontent-disp',
      { 'content-type': 'multipart/form-data; boundary=x' },
      400,
      'invalid_request_body',
    ],
    [
      'a file as the model',
      '--x\r\ncontent-disposition: form-data; name="model"; filename="m"\r\n\r\nm\r\n--x--\r\n',
      { 'content-type': 'multipart/form-data; boundary=x' },
      400,
      'invalid_model',
    ],
  ])('%s is told what is wrong', async (_what, body, headers, status, code) => {
    const service = await chatService('s');
    const { ask: send } = await llm(models(service.url));
    const answer = await send('/v1/chat/completions', { method: 'POST', body, headers });
    const { error } = JSON.parse(answer.body);
    expect(answer.status).toBe(status);
    expect(error.type).toBe('invalid_request_error');
    expect(error.code).toBe(code);
    expect(answer.headers['x-gw-reason']).toBe('InvalidRequest');
    expect(service.seen).toEqual([]);
  });

  test('is told in the words of the format that it speaks', async () => {
    const service = await chatService('s');
    const { ask: send } = await llm(models(service.url));
    const messages = await send('/v1/messages', { method: 'POST', body: '{"model": "x", "messages": []}' });
    expect([messages.status, JSON.parse(messages.body)]).toMatchObject([
      404,
      { type: 'error', error: { type: 'not_found_error', message: 'Model not found' } },
    ]);
    const gemini = await send('/v1beta/models/x:generateContent', { method: 'POST', body: '{}' });
    expect([gemini.status, JSON.parse(gemini.body)]).toMatchObject([
      404,
      { error: { code: 404, status: 'NOT_FOUND' } },
    ]);
  });
});

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
