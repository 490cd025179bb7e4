import { afterEach, describe, expect, test } from '@jest/globals';

import { clients } from '../llm/clients.ts';
import { type SimulatedProvider, startProvider, type Vendor } from '../llm/providers/server.ts';
import { Cleanup, startGateway } from './gateway.ts';
import { nothingWrong, simulating } from './native-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gatewayTo } = simulating(cleanup);

describe('paths of the provider', () => {
  test('are used on another host with a prefix', async () => {
    const simulated = cleanup.add(await startProvider('azure'));
    const gateway = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai:
      name: azure
      provider: {azure: {resourceName: acme, resourceType: openAI, apiVersion: "2024-10-21"}}
      hostOverride: "127.0.0.1:${simulated.port}"
      pathPrefix: /
      policies: {backendAuth: {key: 0123abc}}
`),
    );
    const url = `http://127.0.0.1:${gateway.port(80)}`;
    const answer = await clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }] });
    expect(answer.choices[0]?.message.content).toBe('echo: hi');
    expect(simulated.requests[0]?.target).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21');
    expect(simulated.requests[0]?.headers).toMatchObject({ 'api-key': '0123abc' });
    expect(simulated.requests[0]?.headers).not.toHaveProperty('authorization');
    nothingWrong(simulated);
  });

  test('of a custom service are as its formats say', async () => {
    const simulated = cleanup.add(await startProvider('cohere'));
    const gateway = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai:
      name: cohere
      provider: {custom: {formats: [{type: rerank, path: /v2/rerank}, {type: completions, path: /compatibility/v1/chat/completions}]}}
      hostOverride: "127.0.0.1:${simulated.port}"
      policies: {ai: {routes: {"/rerank": rerank}}}
`),
    );
    const url = `http://127.0.0.1:${gateway.port(80)}`;
    const { results } = await clients
      .cohere(url)
      .rerank({ model: 'rerank-v3.5', query: 'red fox', documents: ['a dog', 'a red fox'] });
    expect(results[0]?.index).toBe(1);
    const answer = await clients
      .openai(url)
      .chat.completions.create({ model: 'command', messages: [{ role: 'user', content: 'hi' }] });
    expect(answer.choices[0]?.message.content).toBe('echo: hi');
    nothingWrong(simulated);
  });
});

describe('clouds that serve the models of others', () => {
  async function cloud(
    vendor: Vendor,
    provider: string,
    key: string,
  ): Promise<{ simulated: SimulatedProvider; url: string }> {
    const { simulated, url } = await gatewayTo({ vendor, provider, auth: `{key: ${key}}`, more: 'pathPrefix: /' });
    return { simulated, url };
  }

  const vertex = '{vertex: {projectId: p1, region: us-central1}}';
  const place = '/v1/projects/p1/locations/us-central1';
  const base = { model: 'claude-sonnet-4-20250514', max_tokens: 100 };
  const messages = [{ role: 'user' as const, content: 'hello' }];

  test('Claude at Vertex has messages, streams and counts', async () => {
    const { simulated, url } = await cloud('vertex', vertex, 'ya29.token');
    const anthropic = clients.anthropic(url);
    const system = [
      { type: 'text' as const, text: 'Be brief.', cache_control: { type: 'ephemeral' as const, scope: 'global' } },
    ];
    const whole = await anthropic.messages.create({ ...base, messages, system });
    expect(whole.content).toMatchObject([{ text: 'echo: hello' }]);
    expect((await anthropic.messages.stream({ ...base, messages }).finalMessage()).content).toMatchObject([
      { text: 'echo: hello' },
    ]);
    expect((await anthropic.messages.countTokens({ model: base.model, messages })).input_tokens).toBe(11);
    expect(simulated.requests.map(({ target }) => target)).toEqual([
      `${place}/publishers/anthropic/models/claude-sonnet-4@20250514:rawPredict`,
      `${place}/publishers/anthropic/models/claude-sonnet-4@20250514:streamRawPredict`,
      `${place}/publishers/anthropic/models/count-tokens:rawPredict`,
    ]);
    nothingWrong(simulated);
  });

  test('Gemini at Vertex has content, streams and counts', async () => {
    const { simulated, url } = await cloud('vertex', vertex, 'ya29.token');
    const google = clients.google(url);
    const model = 'gemini-2.5-pro';
    expect((await google.models.generateContent({ model, contents: 'hello' })).text).toBe('echo: hello');
    let text = '';
    for await (const chunk of await google.models.generateContentStream({ model, contents: 'hello' }))
      text += chunk.text ?? '';
    expect(text).toBe('echo: hello');
    expect((await google.models.countTokens({ model, contents: 'hello' })).totalTokens).toBe(11);
    expect(simulated.requests.map(({ target }) => target)).toEqual([
      `${place}/publishers/google/models/${model}:generateContent`,
      `${place}/publishers/google/models/${model}:streamGenerateContent?alt=sse`,
      `${place}/publishers/google/models/${model}:countTokens`,
    ]);
    nothingWrong(simulated);
  });

  test('others at Vertex have chats', async () => {
    const { simulated, url } = await cloud('vertex', vertex, 'ya29.token');
    const answer = await clients.openai(url).chat.completions.create({ model: 'meta/llama-4', messages });
    expect(answer.choices[0]?.message.content).toBe('echo: hello');
    expect(simulated.requests[0]?.target).toBe(`${place}/endpoints/openapi/chat/completions`);
    nothingWrong(simulated);
  });

  test('Claude in Foundry has messages and counts, others have chats and responses', async () => {
    const { simulated, url } = await cloud(
      'azure',
      '{azure: {resourceName: acme, resourceType: foundry, projectName: lab}}',
      '0123abc',
    );
    const anthropic = clients.anthropic(url);
    expect((await anthropic.messages.create({ ...base, messages })).content).toMatchObject([{ text: 'echo: hello' }]);
    expect((await anthropic.messages.countTokens({ model: base.model, messages })).input_tokens).toBe(11);
    const openaiClient = clients.openai(url);
    expect(
      (await openaiClient.chat.completions.create({ model: 'gpt-4o', messages })).choices[0]?.message.content,
    ).toBe('echo: hello');
    expect((await openaiClient.responses.create({ model: 'gpt-4o', input: 'hello' })).output_text).toBe('echo: hello');
    expect(simulated.requests.map(({ target }) => target)).toEqual([
      '/anthropic/v1/messages',
      '/anthropic/v1/messages/count_tokens',
      '/api/projects/lab/openai/v1/chat/completions',
      '/api/projects/lab/openai/v1/responses',
    ]);
    nothingWrong(simulated);
  });
});
