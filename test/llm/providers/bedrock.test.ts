import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import {
  BedrockRuntimeClient,
  type ContentBlockDelta,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterEach, describe, expect, test } from '@jest/globals';
import { streamText } from 'ai';

import { vendorSignature } from '../../proxy/backends/auth/aws-verifier.ts';
import { Cleanup } from '../../e2e/gateway.ts';
import { clients } from '../clients.ts';
import { startProvider, type SimulatedProvider } from './server.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const credentials = { accessKeyId: 'AKIATEST', secretAccessKey: 'secret' };
const modelId = 'anthropic.claude-3-5-sonnet-20241022-v2:0';

async function client(): Promise<{ bedrock: BedrockRuntimeClient; provider: SimulatedProvider }> {
  const provider = cleanup.add(await startProvider('bedrock'));
  const bedrock = clients.bedrock(provider.url);
  cleanup.add({ close: () => bedrock.destroy() });
  return { provider, bedrock };
}

describe('the simulated Bedrock', () => {
  const ask: ConverseCommandInput = {
    modelId,
    messages: [{ role: 'user', content: [{ text: '@think deep\n@say well\n@call look {"at":"it"}' }] }],
    system: [{ text: 'Be brief.' }],
    inferenceConfig: { maxTokens: 100, temperature: 0 },
    toolConfig: {
      tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
      toolChoice: { auto: {} },
    },
  };

  test('converses', async () => {
    const { bedrock, provider } = await client();
    const answer = await bedrock.send(new ConverseCommand(ask));
    expect(answer.output?.message?.content).toMatchObject([
      { reasoningContent: { reasoningText: { text: 'deep', signature: 'sig-sim' } } },
      { text: 'well' },
      { toolUse: { name: 'look', input: { at: 'it' } } },
    ]);
    expect([answer.stopReason, answer.usage?.outputTokens]).toEqual(['tool_use', 7]);
    expect(provider.faults).toEqual([]);
  });

  test('converses in frames', async () => {
    const { bedrock, provider } = await client();
    const { stream } = await bedrock.send(new ConverseStreamCommand(ask));
    const deltas: ContentBlockDelta[] = [];
    const seen: string[] = [];
    for await (const event of stream ?? []) {
      seen.push(Object.keys(event).join());
      if (event.contentBlockDelta?.delta !== undefined) deltas.push(event.contentBlockDelta.delta);
    }
    expect([seen[0], seen.at(-2), seen.at(-1)]).toEqual(['messageStart', 'messageStop', 'metadata']);
    expect(deltas.map(({ toolUse }) => toolUse?.input ?? '').join('')).toBe('{"at":"it"}');
    expect(provider.faults).toEqual([]);
  });

  test('reports an error in frames, and others by their names', async () => {
    const { bedrock } = await client();
    const failing = { ...ask, messages: [{ role: 'user' as const, content: [{ text: '@count 3\n@stream-error' }] }] };
    const { stream } = await bedrock.send(new ConverseStreamCommand(failing));
    const read = async (): Promise<void> => {
      for await (const event of stream ?? []) void event;
    };
    await expect(read()).rejects.toThrow('simulated stream error');
    const throttled = { ...ask, messages: [{ role: 'user' as const, content: [{ text: '@error 429' }] }] };
    await expect(bedrock.send(new ConverseCommand(throttled))).rejects.toMatchObject({ name: 'ThrottlingException' });
  });

  test('invokes models with bodies of their own', async () => {
    const { bedrock, provider } = await client();
    const claude = {
      modelId,
      body: JSON.stringify({
        anthropic_version: 'bedrock-2023-05-31',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    };
    const whole = await bedrock.send(new InvokeModelCommand(claude));
    expect(JSON.parse(whole.body.transformToString())).toMatchObject({ content: [{ text: 'echo: hello' }] });
    const { body } = await bedrock.send(new InvokeModelWithResponseStreamCommand(claude));
    const types: string[] = [];
    for await (const event of body ?? []) types.push(JSON.parse(Buffer.from(event.chunk?.bytes ?? []).toString()).type);
    expect([types[0], types.at(-1)]).toEqual(['message_start', 'message_stop']);
    const titan = await bedrock.send(
      new InvokeModelCommand({ modelId: 'amazon.titan-embed-text-v2:0', body: JSON.stringify({ inputText: 'a b' }) }),
    );
    expect(JSON.parse(titan.body.transformToString())).toMatchObject({ inputTextTokenCount: 2 });
    expect(provider.faults).toEqual([]);
  });

  test.each([
    [
      'two turns of one role',
      { messages: [1, 2].map(() => ({ role: 'user', content: [{ text: 'x' }] })) },
      'must alternate',
    ],
    ['an unknown field', { tools: [] }, 'unknown field tools'],
    [
      'two things in one block',
      { messages: [{ role: 'user', content: [{ text: 'x', cachePoint: { type: 'default' } }] }] },
      '/messages/0/content/0',
    ],
    ['a blank text', { messages: [{ role: 'user', content: [{ text: ' ' }] }] }, '/messages/0/content/0/text'],
    [
      'a tool without a name that fits',
      { toolConfig: { tools: [{ toolSpec: { name: 'a.b', inputSchema: { json: {} } } }] } },
      '/toolSpec/name',
    ],
  ])('refuses %s', async (_what, fields, message) => {
    const provider = cleanup.add(await startProvider('bedrock'));
    const body = JSON.stringify({ messages: [{ role: 'user', content: [{ text: 'x' }] }], ...fields });
    const at = new Date();
    const date = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
    const host = new URL(provider.url).host;
    const authorization = await vendorSignature(
      { method: 'POST', path: '/model/m/converse', query: {}, headers: { host }, body },
      { keys: credentials, region: 'us-east-1', service: 'bedrock', at },
    );
    const answer = await fetch(`${provider.url}/model/m/converse`, {
      method: 'POST',
      headers: { authorization, 'x-amz-date': date },
      body,
    });
    expect(answer.status).toBe(400);
    expect(provider.faults.join()).toContain(message);
  });

  test('lets nobody in who signs with another secret', async () => {
    const { url } = cleanup.add(await startProvider('bedrock'));
    const stranger = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: url,
      credentials: { ...credentials, secretAccessKey: 'guess' },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler(),
    });
    cleanup.add({ close: () => stranger.destroy() });
    await expect(stranger.send(new ConverseCommand(ask))).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });

  test('understands the AI SDK', async () => {
    const provider = cleanup.add(await startProvider('bedrock'));
    const sdk = createAmazonBedrock({ region: 'us-east-1', baseURL: provider.url, ...credentials });
    expect(await streamText({ model: sdk(modelId), prompt: 'hello' }).text).toBe('echo: hello');
    expect(provider.faults).toEqual([]);
  });
});

describe('the simulated Cohere', () => {
  test('reranks for its SDK', async () => {
    const provider = cleanup.add(await startProvider('cohere'));
    const cohere = clients.cohere(provider.url);
    const { results } = await cohere.rerank({
      model: 'rerank-v3.5',
      query: 'red fox',
      documents: ['a dog', 'a red fox'],
      topN: 1,
    });
    expect(results).toMatchObject([{ index: 1 }]);
    expect(provider.faults).toEqual([]);
  });
});
