import {
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { afterEach, describe, expect, test } from '@jest/globals';

import { clients } from '../llm/clients.ts';
import { startProvider } from '../llm/providers/server.ts';
import { ask, Cleanup, startGateway } from './gateway.ts';
import { nothingWrong, openai, type Options, simulating, told } from './native-gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { gatewayTo } = simulating(cleanup);

describe("Anthropic's client with Anthropic", () => {
  const anthropic: Options = { vendor: 'anthropic', provider: '{anthropic: {}}', auth: '{key: sk-ant-gateway}' };
  const base = { model: 'claude-test', max_tokens: 2048 };

  test('has messages, whole and streamed, with the key in its place', async () => {
    const { gateway, simulated, url } = await gatewayTo(anthropic);
    const messages = [{ role: 'user' as const, content: '@think deep\n@say well\n@cached 7' }];
    const asked = { ...base, messages, thinking: { type: 'enabled' as const, budget_tokens: 1024 } };
    const whole = await clients.anthropic(url).messages.create(asked);
    const streamed = await clients.anthropic(url).messages.stream(asked).finalMessage();
    expect(streamed.content).toEqual(whole.content);
    expect(whole.usage.input_tokens).toBe(16);
    // What came out of the cache is input, too.
    await told(gateway, 'gen_ai.usage.input_tokens=23');
    for (const { headers } of simulated.requests) {
      expect(headers).toMatchObject({ 'x-api-key': 'sk-ant-gateway', 'anthropic-version': '2023-06-01' });
      expect(headers).not.toHaveProperty('authorization');
    }
    nothingWrong(simulated);
  });

  test('counts tokens at the service', async () => {
    const { simulated, url } = await gatewayTo(anthropic);
    const counted = await clients
      .anthropic(url)
      .messages.countTokens({ model: base.model, messages: [{ role: 'user', content: 'a b' }] });
    expect(counted.input_tokens).toBe(12);
    nothingWrong(simulated);
  });

  test('counts tokens here where the service cannot', async () => {
    const { simulated, url } = await gatewayTo(openai);
    const counted = await clients
      .anthropic(url)
      .messages.countTokens({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hello world' }] });
    expect(counted.input_tokens).toBe(2 + 4 + 3);
    expect(simulated.requests).toEqual([]);
  });

  test('fails as the service does', async () => {
    const { simulated, url } = await gatewayTo(anthropic);
    const failing = clients
      .anthropic(url)
      .messages.create({ ...base, messages: [{ role: 'user', content: '@error 529' }] });
    await expect(failing).rejects.toMatchObject({ status: 529 });
    const stream = clients
      .anthropic(url)
      .messages.stream({ ...base, messages: [{ role: 'user', content: '@count 9\n@die' }] });
    await expect(stream.finalMessage()).rejects.toThrow('upstream stream was cut');
    nothingWrong(simulated);
  });

  test('brings its own key where the gateway has none', async () => {
    const { simulated, url } = await gatewayTo({ vendor: 'anthropic', provider: '{anthropic: {}}' });
    await clients.anthropic(url).messages.create({ ...base, messages: [{ role: 'user', content: 'hi' }] });
    expect(simulated.requests[0]?.headers['x-api-key']).toBe('sk-ant-api03-test');
  });
});

describe("Google's client with Gemini", () => {
  const gemini: Options = { vendor: 'gemini', provider: '{gemini: {}}', auth: '{key: AIza-gateway}' };
  const model = 'gemini-2.5-pro';

  test('has content, whole and streamed, and counts', async () => {
    const { gateway, simulated, url } = await gatewayTo(gemini);
    const google = clients.google(url);
    const contents = '@say a longer text\n@call look {"at":"it"}';
    const config = { tools: [{ functionDeclarations: [{ name: 'look' }] }] };
    const whole = await google.models.generateContent({ model, contents, config });
    expect(whole.functionCalls).toMatchObject([{ name: 'look', args: { at: 'it' } }]);
    let text = '';
    for await (const chunk of await google.models.generateContentStream({ model, contents, config })) {
      text += (chunk.candidates?.[0]?.content?.parts ?? []).map((part) => part.text ?? '').join('');
    }
    expect(text).toBe('a longer text');
    expect((await google.models.countTokens({ model, contents: 'one two' })).totalTokens).toBe(12);
    await told(gateway, `gen_ai.request.model=${model}`, 'gen_ai.usage.output_tokens=7');
    expect(simulated.requests.map(({ headers }) => headers['x-goog-api-key'])).toEqual(Array(3).fill('AIza-gateway'));
    nothingWrong(simulated);
  });

  test('is refused a stream of anything but events', async () => {
    const { simulated, port } = await gatewayTo(gemini);
    const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'x' }] }] });
    const answer = await ask(port, `/v1beta/models/${model}:streamGenerateContent`, { method: 'POST', body });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } });
    expect(simulated.requests).toEqual([]);
  });

  test('fails as the service does', async () => {
    const { url } = await gatewayTo(gemini);
    await expect(clients.google(url).models.generateContent({ model, contents: '@error 429' })).rejects.toMatchObject({
      status: 429,
    });
  });
});

describe("Amazon's client with Bedrock", () => {
  const bedrock: Options = {
    vendor: 'bedrock',
    provider: '{bedrock: {region: eu-west-1}}',
    auth: '{aws: {accessKeyId: AKIAGATEWAY, secretAccessKey: secret}}',
  };
  const modelId = 'anthropic.claude-3-5-sonnet-20241022-v2:0';
  const asked = (text: string) => ({ modelId, messages: [{ role: 'user' as const, content: [{ text }] }] });

  test('converses, signed by the gateway', async () => {
    const { gateway, simulated, url } = await gatewayTo(bedrock);
    const client = clients.bedrock(url);
    const answer = await client.send(new ConverseCommand(asked('hello there')));
    expect(answer.output?.message?.content).toEqual([{ text: 'echo: hello there' }]);
    expect(simulated.requests[0]?.headers.authorization).toMatch(/Credential=AKIAGATEWAY\/\d{8}\/eu-west-1\/bedrock\//);
    const line = await told(gateway, 'gen_ai.usage.input_tokens=12');
    expect(line).toContain(`gen_ai.request.model=${modelId}`);
    nothingWrong(simulated);
  });

  test('converses in frames, which are counted on the way', async () => {
    const { gateway, simulated, url } = await gatewayTo(bedrock);
    const { stream } = await clients.bedrock(url).send(new ConverseStreamCommand(asked('@count 40')));
    let text = '';
    for await (const event of stream ?? []) text += event.contentBlockDelta?.delta?.text ?? '';
    expect(text.trim().split(' ')).toHaveLength(40);
    await told(gateway, 'gen_ai.usage.output_tokens=40');
    nothingWrong(simulated);
  });

  test('invokes a model with a stream of its own, which is counted, too', async () => {
    const { gateway, simulated, url } = await gatewayTo(bedrock);
    const body = JSON.stringify({
      anthropic_version: 'bedrock-2023-05-31',
      max_tokens: 99,
      messages: [{ role: 'user', content: '@count 30' }],
    });
    const answer = await clients.bedrock(url).send(new InvokeModelWithResponseStreamCommand({ modelId, body }));
    const types: string[] = [];
    for await (const { chunk } of answer.body ?? [])
      types.push(JSON.parse(Buffer.from(chunk?.bytes ?? []).toString()).type);
    expect(types.at(-1)).toBe('message_stop');
    await told(gateway, 'gen_ai.usage.output_tokens=30');
    nothingWrong(simulated);
  });

  test('fails as the service does', async () => {
    const { url } = await gatewayTo(bedrock);
    await expect(clients.bedrock(url).send(new ConverseCommand(asked('@error 429')))).rejects.toMatchObject({
      name: 'ThrottlingException',
    });
    const { stream } = await clients.bedrock(url).send(new ConverseStreamCommand(asked('@count 9\n@stream-error')));
    const read = async (): Promise<void> => {
      for await (const event of stream ?? []) void event;
    };
    await expect(read()).rejects.toThrow('simulated stream error');
  });
});

describe('Copilot', () => {
  test('is called with the token of whoever is logged in', async () => {
    const simulated = cleanup.add(await startProvider('openai'));
    const gateway = cleanup.add(
      await startGateway(
        `
gateways: {default: {port: 80}}
routes:
- backends: [{ai: {name: c, provider: {copilot: {}}, hostOverride: "127.0.0.1:${simulated.port}", pathPrefix: /v1}}]
`,
        { env: { GH_COPILOT_TOKEN: 'gho-x' } },
      ),
    );
    const chat = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'hi' }] };
    await clients.openai(`http://127.0.0.1:${gateway.port(80)}`).chat.completions.create(chat);
    const [request] = simulated.requests;
    expect(request?.headers).toMatchObject({ authorization: 'Bearer gho-x', 'x-initiator': 'user' });
    nothingWrong(simulated);
  });
});
