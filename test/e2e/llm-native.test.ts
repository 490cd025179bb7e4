import {
  ConverseCommand,
  ConverseStreamCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { afterEach, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'undici';

import { clients } from '../llm/clients.ts';
import { type SimulatedProvider, startProvider, type Vendor } from '../llm/providers/server.ts';
import { eventually, RawClient } from './clients.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const ROUTES = `
  "/v1/chat/completions": completions
  "/v1/messages": messages
  "/v1/messages/count_tokens": anthropicTokenCount
  "/v1/responses": responses
  "/v1/embeddings": embeddings
  "/v1/rerank": rerank
  "/v2/rerank": rerank
  "/v1/realtime": realtime
  "/v1/models": models
  ":generateContent": generateContent
  ":streamGenerateContent": generateContent
  ":countTokens": geminiCountTokens
  "/v1/images/generations": detect
  "/converse": detect
  "/converse-stream": detect
  "/invoke": detect
  "/invoke-with-response-stream": detect
  "*": passthrough
`;

interface Options {
  readonly vendor: Vendor;
  /** As the configuration has it. */
  readonly provider: string;
  readonly auth?: string;
  readonly more?: string;
}

async function gatewayTo({ vendor, provider, auth = '', more = '' }: Options) {
  const simulated = cleanup.add(await startProvider(vendor));
  const gateway = cleanup.add(
    await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai:
      name: service
      provider: ${provider}
      hostOverride: "127.0.0.1:${simulated.port}"
      ${more}
      policies:
        ${auth === '' ? '' : `backendAuth: ${auth}`}
        ai:
          routes: {${ROUTES.trim().replaceAll('\n', ',')}}
`),
  );
  const port = gateway.port(80);
  return { gateway, simulated, port, url: `http://127.0.0.1:${port}` };
}

/** The fields of the access log that tell of a model. */
async function told(gateway: { logged(...words: string[]): Promise<string> }, ...words: string[]): Promise<string> {
  return gateway.logged('gen_ai', ...words);
}

function nothingWrong({ faults }: SimulatedProvider): void {
  expect(faults).toEqual([]);
}

const openai: Options = { vendor: 'openai', provider: '{openAI: {}}', auth: '{key: sk-gateway}' };

describe("OpenAI's client with OpenAI", () => {
  test('chats, with the key of the gateway', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const answer = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'hello there' }],
      max_tokens: 9,
    });
    expect(answer.choices[0]?.message.content).toBe('echo: hello there');
    expect(simulated.requests[0]).toMatchObject({
      target: '/v1/chat/completions',
      headers: { authorization: 'Bearer sk-gateway' },
      body: { max_completion_tokens: 9 },
    });
    const line = await told(gateway, 'gen_ai.usage.input_tokens=12');
    expect(line).toContain('gen_ai.usage.output_tokens=3');
    expect(line).toContain('gen_ai.provider.name=openai');
    nothingWrong(simulated);
  });

  test('streams, and the usage that the client did not ask for is counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const stream = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '@count 50' }],
      stream: true,
    });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text.trim().split(' ')).toHaveLength(50);
    expect(simulated.requests[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
    await told(gateway, 'gen_ai.usage.output_tokens=50');
    nothingWrong(simulated);
  });

  test('calls tools, several at once, and answers them', async () => {
    const { simulated, url } = await gatewayTo(openai);
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }];
    const asked = { role: 'user' as const, content: '@call look {"at":1}\n@call look {"at":2}' };
    const first = await clients
      .openai(url)
      .chat.completions.stream({ model: 'gpt-4o', messages: [asked], tools })
      .finalChatCompletion();
    const message = first.choices[0]?.message;
    const calls = message?.tool_calls ?? [];
    expect(calls).toHaveLength(2);
    const second = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      tools,
      messages: [
        asked,
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, function: called }) => ({
            id,
            type: 'function' as const,
            function: { name: called.name, arguments: called.arguments },
          })),
        },
        ...calls.map(({ id }) => ({ role: 'tool' as const, tool_call_id: id, content: `saw ${id}` })),
      ],
    });
    expect(second.choices[0]?.message.content).toBe('tools said: saw call_1 | saw call_2');
    nothingWrong(simulated);
  });

  test('has responses, whole and streamed', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const input = '@think hard\n@say fine';
    expect((await clients.openai(url).responses.create({ model: 'gpt-5', input })).output_text).toBe('fine');
    const streamed = await clients.openai(url).responses.stream({ model: 'gpt-5', input }).finalResponse();
    expect(streamed.output_text).toBe('fine');
    await told(gateway, 'gen_ai.usage.reasoning_tokens=1');
    nothingWrong(simulated);
  });

  test('has embeddings; lists of models are made elsewhere', async () => {
    const { simulated, url, port } = await gatewayTo(openai);
    const { data } = await clients.openai(url).embeddings.create({ model: 'text-embedding-3-small', input: 'a b' });
    expect(data[0]?.embedding).toHaveLength(8);
    const models = await ask(port, '/v1/models');
    expect([models.status, models.body]).toEqual([501, '{"error":"Route \'Models\' not implemented"}']);
    nothingWrong(simulated);
  });

  test('has images as they come, and their tokens are counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { data } = await clients.openai(url).images.generate({ model: 'gpt-image-1', prompt: 'a red fox' });
    expect(data?.[0]?.b64_json).toBe('aW1hZ2U=');
    const line = await told(gateway, 'gen_ai.usage.output_tokens=100');
    expect(line).toContain('gen_ai.request.model=gpt-image-1');
    nothingWrong(simulated);
  });

  test('sends forms of any size through, as they are', async () => {
    const seen: { type?: string; bytes: number }[] = [];
    const server = cleanup.add(
      await upstream((request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.byteLength));
        request.on('end', () => {
          seen.push({ type: String(request.headers['content-type']), bytes });
          response.end('{}');
        });
      }),
    );
    const running = cleanup.add(
      await startGateway(`
gateways: {default: {port: 80}}
routes:
- backends:
  - ai: {name: o, provider: {openAI: {}}, hostOverride: "127.0.0.1:${server.port}", policies: {ai: {routes: {"*": detect}}}}
`),
    );
    const form = {
      method: 'POST',
      body: Buffer.alloc(3_000_000),
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    };
    expect((await ask(running.port(80), '/v1/images/edits', form)).status).toBe(200);
    expect(seen).toEqual([{ type: 'multipart/form-data; boundary=x', bytes: 3_000_000 }]);
    const json = { ...form, headers: { 'content-type': 'application/json' } };
    expect((await ask(running.port(80), '/v1/images/edits', json)).status).toBe(413);
  });

  test('gets what nobody understands as it is', async () => {
    const { simulated, port } = await gatewayTo(openai);
    const answer = await ask(port, '/v1/files?limit=1', { method: 'POST', body: 'no JSON' });
    expect(answer.status).toBe(400);
    expect(simulated.requests[0]?.target).toBe('/v1/files?limit=1');
    expect(simulated.requests[0]?.headers.authorization).toBe('Bearer sk-gateway');
  });

  test.each([
    ['@error 429 retry-after: 7', 429],
    ['@error 500', 500],
    ['@error 404', 404],
  ])('fails as the service does: %s', async (content, status) => {
    const { simulated, url } = await gatewayTo(openai);
    const stream = clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }], stream: true });
    const message = `simulated error ${status}`;
    await expect(stream).rejects.toMatchObject({ status, error: { message } });
    nothingWrong(simulated);
  });

  test('is told when a stream breaks', async () => {
    const { url } = await gatewayTo(openai);
    const content = '@count 9\n@die';
    const stream = await clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content }], stream: true });
    const read = async (): Promise<void> => {
      for await (const chunk of stream) void chunk;
    };
    await expect(read()).rejects.toThrow('upstream stream was cut');
  });

  test('that leaves cancels the call', async () => {
    const { simulated, url } = await gatewayTo(openai);
    const stream = await clients.openai(url).chat.completions.create({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: '@count 5\n@pause' }],
      stream: true,
    });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content === '1 ') break;
    await eventually('the call is over', () => simulated.open === 0);
  });

  test('gets 502 for a page that is no answer', async () => {
    const { url } = await gatewayTo(openai);
    const answer = clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: '@html' }] });
    await expect(answer).rejects.toMatchObject({ status: 502 });
  });

  test('has its tokens counted where the service tells none', async () => {
    const { gateway, url } = await gatewayTo({ ...openai, more: 'tokenize: true' });
    await clients
      .openai(url)
      .chat.completions.create({ model: 'gpt-4o', messages: [{ role: 'user', content: '@error 500' }] })
      .catch(() => {});
    await told(gateway, 'gen_ai.usage.input_tokens=11');
  });
});

describe('a realtime session', () => {
  async function session(
    url: string,
    model: string,
  ): Promise<{ socket: WebSocket; events: Record<string, unknown>[] }> {
    const events: Record<string, unknown>[] = [];
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime?model=${model}`);
    cleanup.add({ close: () => socket.close() });
    socket.addEventListener('message', ({ data }) => events.push(JSON.parse(String(data))));
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve);
      socket.addEventListener('error', reject);
    });
    return { socket, events };
  }

  test('passes both ways, and is counted', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { socket, events } = await session(url, 'gpt-realtime');
    const item = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello you' }] };
    socket.send(JSON.stringify({ type: 'conversation.item.create', item }));
    for (const answers of [1, 2]) {
      socket.send(JSON.stringify({ type: 'response.create' }));
      await eventually(
        `answer ${answers}`,
        () => events.filter(({ type }) => type === 'response.done').length === answers,
      );
    }
    socket.close();
    const line = await told(gateway, 'gen_ai.usage.input_tokens=24');
    expect(line).toContain('gen_ai.request.model=gpt-realtime');
    expect(line).toContain('gen_ai.usage.output_tokens=6');
    const [request] = simulated.requests;
    expect(request?.target).toBe('/v1/realtime?model=gpt-realtime');
    expect(request?.headers).toMatchObject({ authorization: 'Bearer sk-gateway' });
    expect(request?.headers).not.toHaveProperty('sec-websocket-extensions');
    nothingWrong(simulated);
  });

  test('has the model that the configuration names', async () => {
    const { simulated, url } = await gatewayTo({ ...openai, provider: '{openAI: {model: gpt-realtime-mini}}' });
    await session(url, 'mine');
    expect(simulated.requests[0]?.target).toBe('/v1/realtime?model=gpt-realtime-mini');
  });

  test('that the service refuses is refused as it was', async () => {
    const { gateway, port, simulated } = await gatewayTo({ ...openai, auth: '' });
    const client = cleanup.add(new RawClient(port));
    client.write(
      'GET /v1/realtime?model=m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n',
    );
    await client.until((text) => text.startsWith('HTTP/1.1 401 '));
    expect(simulated.requests).toHaveLength(1);
    await told(gateway, 'http.status=401', 'gen_ai.request.model=m');
  });

  test('ends on both sides with either of them, and is counted up to there', async () => {
    const { gateway, simulated, url } = await gatewayTo(openai);
    const { socket, events } = await session(url, 'gpt-realtime');
    socket.send(JSON.stringify({ type: 'response.create' }));
    await eventually('an answer', () => events.some(({ type }) => type === 'response.done'));
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    await simulated.close();
    await closed;
    await told(gateway, 'gen_ai.usage.input_tokens=10');
  });

  test('is not there where the provider has none', async () => {
    const { port } = await gatewayTo({ vendor: 'anthropic', provider: '{anthropic: {}}' });
    const answer = await ask(port, '/v1/realtime?model=m');
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('cannot take Realtime requests')]);
  });
});

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
