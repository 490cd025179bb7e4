import { gzipSync } from 'node:zlib';

import { afterEach, describe, expect, test } from '@jest/globals';

import { Cleanup } from './gateway.ts';
import { chatService as newChatService, failure, llmGateway } from './llm-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const chatService = (name: string, status?: number) => newChatService(cleanup, name, status);
const llm = (text: string, more?: string) => llmGateway(cleanup, text, more);

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
