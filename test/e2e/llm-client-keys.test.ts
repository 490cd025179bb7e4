import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, test } from '@jest/globals';
import { CohereClientV2 } from 'cohere-ai';
import OpenAI, { AzureOpenAI } from 'openai';
// Google's client looks for the dispatcher that this leaves in the globals, which Node's own leaves in another context.
import 'undici';

import { startProvider } from '../llm/providers/server.ts';
import { ask, Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const hello = [{ role: 'user' as const, content: 'Hello' }];

/** Each library, with the key where it puts it by itself. */
const libraries: readonly (readonly [string, (url: string, apiKey: string) => Promise<unknown>])[] = [
  [
    'OpenAI',
    (url, apiKey) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create({
        model: 'gpt-4o',
        messages: hello,
      }),
  ],
  [
    'Anthropic',
    (baseURL, apiKey) =>
      new Anthropic({ baseURL, apiKey, maxRetries: 0 }).messages.create({
        model: 'gpt-4o',
        max_tokens: 50,
        messages: hello,
      }),
  ],
  [
    'Google',
    (baseUrl, apiKey) =>
      new GoogleGenAI({ apiKey, httpOptions: { baseUrl } }).models.generateContent({
        model: 'gemini-2.5-pro',
        contents: 'Hello',
      }),
  ],
];

async function gatewayWith({ own = false, location = '', policies = true } = {}) {
  const openai = cleanup.add(await startProvider('openai'));
  const gemini = cleanup.add(await startProvider('gemini'));
  const gateway = cleanup.add(
    await startGateway(`
${own ? '' : 'gateways: {default: {port: 4000}}'}
llm:
  ${own ? 'port: 4000' : ''}
  ${policies ? `policies: {apiKey: {keys: [{key: sk-team}]${location}}}` : ''}
  models:
  - {name: "gpt-*", provider: openAI, params: {apiKey: provider-key, baseUrl: "${openai.url}/v1"}}
  - {name: "gemini-*", provider: gemini, params: {apiKey: provider-key, baseUrl: "${gemini.url}"}}
`),
  );
  const port = gateway.port(4000);
  return { port, url: `http://127.0.0.1:${port}`, seen: () => [...openai.requests, ...gemini.requests] };
}

describe.each([
  ['beside other routes', false],
  ['on a port of their own', true],
])('models %s', (_where, own) => {
  test.each(libraries)('take a key from the library of %s', async (_library, call) => {
    const { url, seen } = await gatewayWith({ own });
    await expect(call(url, 'sk-wrong')).rejects.toMatchObject({ status: 401 });
    expect(seen()).toEqual([]);
    await call(url, 'sk-team');
    expect(seen()).toHaveLength(1);
    expect(JSON.stringify(seen())).not.toContain('sk-team');
  });
});

test('a key in the header of Azure, as its clients show it, is taken', async () => {
  const { port, seen } = await gatewayWith();
  const body = JSON.stringify({ model: 'gpt-4o', messages: hello });
  const headers = { 'api-key': 'sk-team' };
  expect(await ask(port, '/v1/chat/completions', { method: 'POST', headers, body })).toMatchObject({ status: 200 });
  expect(JSON.stringify(seen())).not.toContain('sk-team');
});

test('a key in the query is taken out of it', async () => {
  const { port, seen } = await gatewayWith();
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  const path = '/v1beta/models/gemini-2.5-pro:generateContent?key=sk-team';
  expect(await ask(port, path, { method: 'POST', body })).toMatchObject({ status: 200 });
  expect(JSON.stringify(seen())).not.toContain('sk-team');
});

/** Each library, with what it understands of a list of models. */
const lists: readonly (readonly [string, (url: string, apiKey: string) => Promise<readonly unknown[]>])[] = [
  [
    'OpenAI',
    async (url, apiKey) => (await new OpenAI({ baseURL: `${url}/v1`, apiKey }).models.list()).data.map(({ id }) => id),
  ],
  [
    'OpenAI for Azure',
    async (endpoint, apiKey) => {
      const client = new AzureOpenAI({ endpoint, apiKey, apiVersion: '2024-10-21' });
      return (await client.models.list()).data.map(({ id }) => id);
    },
  ],
  [
    'Anthropic',
    async (baseURL, apiKey) => (await new Anthropic({ baseURL, apiKey }).models.list()).data.map(({ id }) => id),
  ],
  ...['v1beta', 'v1', 'v1alpha'].map(
    (apiVersion) =>
      [
        `Google, ${apiVersion}`,
        async (baseUrl: string, apiKey: string) => {
          const client = new GoogleGenAI({ apiKey, apiVersion, httpOptions: { baseUrl } });
          return (await client.models.list()).page.map(({ name }) => name?.replace('models/', ''));
        },
      ] as const,
  ),
  [
    'Google for Vertex AI',
    async (baseUrl, apiKey) => {
      const client = new GoogleGenAI({ vertexai: true, apiKey, httpOptions: { baseUrl } });
      return (await client.models.list()).page.map(({ name }) => name?.replace('publishers/google/models/', ''));
    },
  ],
  [
    'Cohere',
    async (environment, token) =>
      (await new CohereClientV2({ environment, token }).models.list()).models.map(({ name }) => name),
  ],
];

test.each(lists)('models are listed for the library of %s once its key was taken', async (_library, list) => {
  const { url } = await gatewayWith();
  expect(await list(url, 'sk-team')).toEqual(['gemini-*', 'gpt-*']);
});

test('keys that nobody asks for do not reach a provider that is shown one of the gateway’s', async () => {
  const { port, seen } = await gatewayWith({ policies: false });
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] });
  const headers = { authorization: 'Bearer theirs', 'x-api-key': 'theirs', 'x-goog-api-key': 'theirs' };
  const path = '/v1beta/models/gemini-2.5-pro:generateContent?key=theirs&$fields=candidates';
  expect(await ask(port, path, { method: 'POST', headers, body })).toMatchObject({ status: 200 });
  expect(seen()[0]?.target).toBe('/v1beta/models/gemini-2.5-pro:generateContent?$fields=candidates');
  expect(JSON.stringify(seen())).not.toContain('theirs');
});

test('a place that the file names is the only one', async () => {
  const { url } = await gatewayWith({ location: ', location: {header: {name: x-gateway-key}}' });
  const shown = { 'x-api-key': 'sk-team', authorization: 'Bearer sk-team' };
  const client = (headers: Record<string, string>) =>
    new Anthropic({ baseURL: url, apiKey: null, authToken: null, defaultHeaders: headers, maxRetries: 0 });
  const request = { model: 'gpt-4o', max_tokens: 50, messages: hello };
  await expect(client(shown).messages.create(request)).rejects.toMatchObject({ status: 401 });
  await client({ ...shown, 'x-gateway-key': 'sk-team' }).messages.create(request);
});
