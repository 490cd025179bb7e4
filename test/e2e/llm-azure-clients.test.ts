import { afterEach, describe, expect, test } from '@jest/globals';
import { AzureOpenAI } from 'openai';

import { startProvider, type Vendor } from '../llm/providers/server.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const messages = [{ role: 'user' as const, content: 'Hello' }];
const SECTION: Readonly<Record<string, string>> = {
  openai: 'openAI',
  anthropic: 'anthropic',
  gemini: 'gemini',
  azure: 'azure',
};

/** A client of Azure, and a gateway whose models are another vendor's. */
async function azureClient(vendor: Vendor, { model = 'prod', deployment = '', more = '' } = {}) {
  const service = cleanup.add(await startProvider(vendor));
  const resource = vendor === 'azure' ? ', azureResourceName: r, azureResourceType: openAI' : '';
  const gateway = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
llm:
  models:
  - name: ${model}
    provider: ${SECTION[vendor] ?? vendor}
    params: {apiKey: provider-key, hostOverride: "127.0.0.1:${service.port}"${resource}}
${more}`),
  );
  const client = new AzureOpenAI({
    endpoint: `http://127.0.0.1:${gateway.port(80)}`,
    apiKey: 'sk-team',
    apiVersion: '2024-10-21',
    maxRetries: 0,
    ...(deployment === '' ? {} : { deployment }),
  });
  const targets = () => service.requests.map(({ target }) => target);
  const asked = () => service.requests.map(({ body }) => body['model']);
  return { client, service, targets, asked };
}

describe('a client of Azure', () => {
  test.each([
    ['openai', '/v1/chat/completions'],
    ['anthropic', '/v1/messages'],
    ['azure', '/openai/deployments/prod/chat/completions?api-version=2024-10-21'],
  ] as const)('chats with %s, which gets its own path', async (vendor, path) => {
    const { client, service, targets } = await azureClient(vendor);
    const answer = await client.chat.completions.create({ model: 'prod', messages });
    expect(answer.choices[0]?.message.content).toBe('echo: Hello');
    const stream = await client.chat.completions.create({ model: 'prod', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('echo: Hello');
    expect([targets(), service.faults]).toEqual([[path, path], []]);
    expect(JSON.stringify(service.requests)).not.toContain('sk-team');
  });

  test('is served by the model that its deployment is called, whatever its body says', async () => {
    const { client, targets, asked } = await azureClient('openai', { deployment: 'prod' });
    await client.chat.completions.create({ model: 'gpt-5', messages });
    expect([targets(), asked()]).toEqual([['/v1/chat/completions'], ['prod']]);
  });

  test('is told that a deployment is not known as Azure tells it', async () => {
    const { client } = await azureClient('openai');
    await expect(client.chat.completions.create({ model: 'other', messages })).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });

  test('has embeddings and responses of OpenAI', async () => {
    const { client, service, targets } = await azureClient('openai');
    const { data } = await client.embeddings.create({ model: 'prod', input: 'Hello' });
    expect(data[0]?.embedding).toHaveLength(8);
    expect((await client.responses.create({ model: 'prod', input: 'Hello' })).output_text).toBe('echo: Hello');
    await client.images.generate({ model: 'prod', prompt: 'a cat' });
    expect(targets()).toEqual(['/v1/embeddings', '/v1/responses', '/v1/images/generations']);
    expect(service.faults).toEqual([]);
  });

  test('gets what a virtual model of its deployment’s name chooses', async () => {
    const { client, asked, targets } = await azureClient('openai', {
      model: 'real',
      more: '  virtualModels: [{name: prod, routing: {weighted: {targets: [{model: real}]}}}]\n',
    });
    await client.chat.completions.create({ model: 'prod', messages });
    expect([targets(), asked()]).toEqual([['/v1/chat/completions'], ['real']]);
  });
});
