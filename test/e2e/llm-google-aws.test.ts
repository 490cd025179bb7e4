import { Readable } from 'node:stream';

import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';

import { awsEvent, awsException } from '../proxy/llm/aws-frames.ts';
import { Cleanup, startGateway, upstream } from './gateway.ts';

// Node's own fetch looks for it where Jest does not let it.
setGlobalDispatcher(new Agent());

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const MODEL = 'anthropic.claude-sonnet-4';
const env = { AWS_ACCESS_KEY_ID: 'AK', AWS_SECRET_ACCESS_KEY: 'secret', AWS_EC2_METADATA_DISABLED: 'true' };

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Pieces are sent one by one. */
  readonly body: string | readonly Uint8Array[];
  /** The connection is reset after the body. */
  readonly cut?: boolean;
}

interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly json: Record<string, unknown>;
}

/** A service that answers the same to everything, and keeps what it was asked. */
async function service({ status = 200, type = 'application/json', headers = {}, body, cut = false }: Answer) {
  const asked: Asked[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      let source = '';
      request.setEncoding('utf8');
      request.on('data', (chunk: string) => (source += chunk));
      request.on('end', () => {
        asked.push({ url: request.url ?? '', headers: request.headers, json: JSON.parse(source || '{}') });
        response.writeHead(status, { 'content-type': type, ...headers });
        const pieces = typeof body === 'string' ? [body] : body;
        for (const piece of pieces) response.write(piece);
        if (cut) setImmediate(() => response.destroy());
        else response.end();
      });
    }),
  );
  return { asked, port: server.port };
}

async function clients(provider: string, params: string, more: Record<string, string> = {}) {
  const gateway = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nllm:\n  models:\n  - {name: m, provider: ${provider}, params: {${params}}}\n`,
      { env: { ...env, ...more } },
    ),
  );
  const base = `http://127.0.0.1:${gateway.port(80)}`;
  return {
    gateway,
    openai: new OpenAI({ baseURL: `${base}/v1`, apiKey: 'k', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: base, apiKey: 'k', maxRetries: 0 }),
  };
}

const bedrock = (port: number, model = MODEL, more: Record<string, string> = {}) =>
  clients(
    'bedrock',
    `model: "${model}", awsRegion: eu-west-1, hostOverride: "127.0.0.1:${port}", pathPrefix: /aws`,
    more,
  );
const gemini = (port: number) =>
  clients('gemini', `model: gemini-2.5-pro, apiKey: AIzaKey, hostOverride: "127.0.0.1:${port}", pathPrefix: /google`);

const messages = [{ role: 'user' as const, content: 'Weather?' }];
const tools = [
  {
    type: 'function' as const,
    function: { name: 'mcp.weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
  },
];

const EVENTS = [
  awsEvent('messageStart', { role: 'assistant' }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'It is ' } }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'sunny' } }),
  awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
  awsEvent('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't1', name: 'mcp_weather' } } }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"city":' } } }),
  awsEvent('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '"Paris"}' } } }),
  awsEvent('contentBlockStop', { contentBlockIndex: 1 }),
  awsEvent('messageStop', { stopReason: 'tool_use' }),
  awsEvent('metadata', { usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 }, metrics: { latencyMs: 1 } }),
];

/** The stream in pieces of 7 bytes: frames begin and end anywhere. */
function shredded(frames: readonly Uint8Array[]): readonly Uint8Array[] {
  const whole = Buffer.concat(frames);
  return Array.from({ length: Math.ceil(whole.length / 7) }, (_, index) => whole.subarray(index * 7, index * 7 + 7));
}

const stream = (body: readonly Uint8Array[], cut = false): Answer => ({
  type: 'application/vnd.amazon.eventstream',
  body,
  cut,
});

const CONVERSED = JSON.stringify({
  output: {
    message: {
      role: 'assistant',
      content: [
        { text: 'It is sunny' },
        { toolUse: { toolUseId: 't1', name: 'mcp_weather', input: { city: 'Paris' } } },
      ],
    },
  },
  stopReason: 'tool_use',
  usage: { inputTokens: 5, outputTokens: 7, totalTokens: 12 },
  metrics: { latencyMs: 1 },
});

describe('the client of OpenAI at Bedrock', () => {
  test('gets answers, and Bedrock what its own client would send', async () => {
    const { asked, port } = await service({ body: CONVERSED });
    const { openai } = await bedrock(port);
    const completion = await openai.chat.completions.create({ model: 'm', messages, tools, max_tokens: 10 });
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'It is sunny',
        tool_calls: [{ id: 't1', function: { name: 'mcp.weather', arguments: '{"city":"Paris"}' } }],
      },
    });
    // The client's own connections are of HTTP/2: what it would send is taken before.
    const theirs: { path: string; body: string }[] = [];
    const vendor = new BedrockRuntimeClient({
      region: 'eu-west-1',
      endpoint: 'http://127.0.0.1:1/aws',
      credentials: { accessKeyId: 'AK', secretAccessKey: 'secret' },
      requestHandler: {
        handle: (request: { readonly path: string; readonly body?: unknown }) => {
          theirs.push({ path: request.path, body: String(request.body) });
          return Promise.resolve({
            response: { statusCode: 200, headers: {}, body: Readable.from([CONVERSED]) } as never,
          }); // what it reads of one
        },
      },
    });
    await vendor.send(
      new ConverseCommand({
        modelId: MODEL,
        messages: [{ role: 'user', content: [{ text: 'Weather?' }] }],
        inferenceConfig: { maxTokens: 10 },
        toolConfig: {
          tools: [
            {
              toolSpec: {
                name: 'mcp_weather',
                inputSchema: { json: { type: 'object', properties: { city: { type: 'string' } } } },
              },
            },
          ],
        },
      }),
    );
    const [ours] = asked;
    expect(ours?.json).toEqual(JSON.parse(theirs[0]?.body ?? ''));
    expect(ours?.url).toBe(theirs[0]?.path);
    expect(ours?.headers['authorization']).toContain('AWS4-HMAC-SHA256 Credential=AK/');
  });

  test('gets streams, however the frames are cut', async () => {
    const { port, asked } = await service(stream(shredded(EVENTS)));
    const { openai } = await bedrock(port);
    const completion = await openai.chat.completions.stream({ model: 'm', messages, tools }).finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: 'It is sunny',
        tool_calls: [{ id: 't1', function: { name: 'mcp.weather', arguments: '{"city":"Paris"}' } }],
      },
    });
    expect(completion.usage?.total_tokens).toBe(12);
    expect(asked[0]?.url).toBe(`/aws/model/${MODEL}/converse-stream`);
  });

  test('gets responses, whole and as streams', async () => {
    const whole = await service({ body: CONVERSED });
    const { openai } = await bedrock(whole.port);
    const tool = { type: 'function' as const, name: 'mcp.weather', parameters: {}, strict: false };
    const response = await openai.responses.create({ model: 'm', input: 'Weather?', tools: [tool] });
    expect(response.output_text).toBe('It is sunny');
    expect(response.output).toMatchObject([{}, { call_id: 't1', name: 'mcp.weather', arguments: '{"city":"Paris"}' }]);
    const live = await service(stream(EVENTS));
    const { openai: streaming } = await bedrock(live.port);
    const final = await streaming.responses.stream({ model: 'm', input: 'Weather?', tools: [tool] }).finalResponse();
    expect(final.output_text).toBe('It is sunny');
    expect(final.usage?.output_tokens).toBe(7);
  });

  test('gets embeddings, which it asks for as base64 by itself', async () => {
    const { asked, port } = await service({ body: JSON.stringify({ embedding: [0.5, -1], inputTextTokenCount: 3 }) });
    const { openai } = await bedrock(port, 'amazon.titan-embed-text-v2:0');
    const { data, usage } = await openai.embeddings.create({ model: 'm', input: 'hi' });
    expect(data[0]?.embedding).toEqual([0.5, -1]);
    expect(usage.prompt_tokens).toBe(3);
    expect(asked[0]?.url).toBe('/aws/model/amazon.titan-embed-text-v2:0/invoke');
  });

  test.each([
    ['an exception', [...EVENTS.slice(0, 3), awsException('throttlingException', 'too many')], false],
    ['a frame with a wrong checksum', [...EVENTS.slice(0, 3), broken(EVENTS[3])], false],
    ['an end in the middle of a frame', [...EVENTS.slice(0, 3), EVENTS[3]?.subarray(0, 9) ?? new Uint8Array()], false],
    ['an end before the answer is complete', EVENTS.slice(0, 3), false],
    ['a reset', EVENTS.slice(0, 3), true],
  ])('is told that a stream failed by %s', async (_what, body, cut) => {
    const { port } = await service(stream(body, cut));
    const { openai } = await bedrock(port);
    const chunks = await openai.chat.completions.create({ model: 'm', messages, stream: true });
    let text = '';
    const read = async () => {
      for await (const chunk of chunks) text += chunk.choices[0]?.delta.content ?? '';
    };
    await expect(read()).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(text).toBe('It is sunny');
  });

  test.each([
    [429, '{"message":"too many tokens"}', 429, 'too many tokens'],
    [503, '<html>down</html>', 503, 'Bedrock answered with status 503'],
    [200, '<html>hello</html>', 502, 'response body is not a JSON object'],
    [200, '{"stopReason":"end_turn"}', 502, 'the response has no output message'],
  ])('is told of %i %s', async (status, body, expected, message) => {
    const { port } = await service({ status, body });
    const { openai } = await bedrock(port);
    const call = openai.chat.completions.create({ model: 'm', messages });
    await expect(call).rejects.toMatchObject({ status: expected, message: expect.stringContaining(message) });
  });
});

test('an error is told as such to those who asked for a stream', async () => {
  const { port } = await service({ status: 429, body: '{"message":"too many"}' });
  const { openai, anthropic } = await bedrock(port);
  const stream = { model: 'm', messages, stream: true as const };
  await expect(openai.chat.completions.create(stream)).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  await expect(anthropic.messages.create({ ...stream, max_tokens: 9 })).rejects.toBeInstanceOf(
    Anthropic.RateLimitError,
  );
});

function broken(frame: Uint8Array | undefined): Uint8Array {
  const bytes = Uint8Array.from(frame ?? []);
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
  return bytes;
}

describe('the client of Anthropic at Bedrock', () => {
  const question = { model: 'm', max_tokens: 10, messages };
  const tool = { name: 'mcp.weather', input_schema: { type: 'object' as const } };

  test('gets messages', async () => {
    const { port } = await service({ body: CONVERSED });
    const { anthropic } = await bedrock(port);
    const message = await anthropic.messages.create({ ...question, tools: [tool] });
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'It is sunny' },
        { type: 'tool_use', id: 't1', name: 'mcp.weather', input: { city: 'Paris' } },
      ],
      usage: { input_tokens: 5, output_tokens: 7 },
    });
  });

  test('gets streams', async () => {
    const { port } = await service(stream(shredded(EVENTS)));
    const { anthropic } = await bedrock(port);
    const message = await anthropic.messages.stream({ ...question, tools: [tool] }).finalMessage();
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'It is sunny' },
        { type: 'tool_use', name: 'mcp.weather', input: { city: 'Paris' } },
      ],
      usage: { input_tokens: 5, output_tokens: 7 },
    });
  });

  test('is told of errors, in streams too', async () => {
    const busy = await service({ status: 429, body: '{"message":"too many"}' });
    const { anthropic } = await bedrock(busy.port);
    await expect(anthropic.messages.create(question)).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    const failing = await service(stream([...EVENTS.slice(0, 2), awsException('modelStreamErrorException', 'oops')]));
    const { anthropic: other } = await bedrock(failing.port);
    await expect(other.messages.stream(question).finalMessage()).rejects.toThrow(/oops/);
  });

  test('asks for betas that are known, or that the environment allows', async () => {
    const { asked, port } = await service({ body: CONVERSED });
    const betas = ['context-1m-2025-08-07', 'brand-new'];
    const usual = await bedrock(port);
    await usual.anthropic.beta.messages.create({ ...question, betas });
    const allowing = await bedrock(port, MODEL, { GW_BEDROCK_ANTHROPIC_BETA_HEADERS: 'brand-new' });
    await allowing.anthropic.beta.messages.create({ ...question, betas });
    expect(asked.map(({ json }) => json['additionalModelRequestFields'])).toEqual([
      { anthropic_beta: ['context-1m-2025-08-07'] },
      { anthropic_beta: ['brand-new'] },
    ]);
  });

  test('counts tokens', async () => {
    const { asked, port } = await service({ body: '{"inputTokens":12}' });
    const { anthropic } = await bedrock(port);
    expect(await anthropic.messages.countTokens({ model: 'm', messages })).toEqual({ input_tokens: 12 });
    expect(asked[0]?.url).toBe(`/aws/model/${MODEL}/count-tokens`);
  });
});

describe('the client of OpenAI at Gemini', () => {
  const ANSWER = {
    responseId: 'r1',
    modelVersion: 'gemini-2.5-pro',
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ text: 'Sunny' }, { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' }],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3, totalTokenCount: 5 },
  };
  const fn = { name: 'f', parameters: { type: 'object', properties: { a: { type: 'integer' } } } };

  test('gets answers, and Gemini what its own client would send', async () => {
    const { asked, port } = await service({ body: JSON.stringify(ANSWER) });
    const { openai } = await gemini(port);
    const request = { model: 'm', tools: [{ type: 'function' as const, function: fn }], temperature: 0.5 };
    const completion = await openai.chat.completions.create({ ...request, messages });
    const call = completion.choices[0]?.message;
    expect(call).toMatchObject({ content: 'Sunny', tool_calls: [{ id: 'call_r1_0__thought__c2ln' }] });
    if (call === undefined) throw new Error('there is no choice');
    await openai.chat.completions.create({
      ...request,
      messages: [...messages, call, { role: 'tool', tool_call_id: 'call_r1_0__thought__c2ln', content: 'ok' }],
    });
    const vendor = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: `http://127.0.0.1:${port}/google` } });
    await vendor.models.generateContent({
      model: 'gemini-2.5-pro',
      contents: [
        { role: 'user', parts: [{ text: 'Weather?' }] },
        {
          role: 'model',
          parts: [{ text: 'Sunny' }, { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: 'c2ln' }],
        },
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: { content: 'ok' } } }] },
      ],
      config: {
        temperature: 0.5,
        tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: fn.parameters }] }],
      },
    });
    const [, ours, theirs] = asked;
    expect(ours?.json['contents']).toEqual(theirs?.json['contents']);
    expect(ours?.json['generationConfig']).toEqual(theirs?.json['generationConfig']);
    expect(ours?.url).toBe(theirs?.url);
    expect(ours?.headers).toMatchObject({ 'x-goog-api-key': 'AIzaKey' });
  });

  test('gets streams', async () => {
    const events = [
      { ...ANSWER, candidates: [{ content: { parts: [{ text: 'Sun' }] } }] },
      { ...ANSWER, candidates: [{ content: { parts: [{ text: 'ny' }] }, finishReason: 'STOP' }] },
    ];
    const body = events.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`).join('');
    const { asked, port } = await service({ type: 'text/event-stream', body });
    const { openai } = await gemini(port);
    const completion = await openai.chat.completions.stream({ model: 'm', messages }).finalChatCompletion();
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Sunny' } });
    expect(asked[0]?.url).toBe('/google/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse');
  });

  const QUOTA = { error: { code: 429, message: 'quota', status: 'RESOURCE_EXHAUSTED' } };

  test.each([
    [429, JSON.stringify(QUOTA), 429, 'quota'],
    [429, JSON.stringify([QUOTA]), 429, 'quota'],
    [503, '<html>down</html>', 502, 'error response could not be understood'],
    [200, '{"hello":1}', 502, 'the response has no candidates'],
  ])('is told of %i %s', async (status, body, expected, message) => {
    const { port } = await service({ status, body });
    const { openai } = await gemini(port);
    const call = openai.chat.completions.create({ model: 'm', messages });
    await expect(call).rejects.toMatchObject({ status: expected, message: expect.stringContaining(message) });
  });
});
