import { afterEach, describe, expect, test } from '@jest/globals';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { JsonObject } from '../../proxy/exchange/attributes.ts';
import { sse } from '../proxy/llm/translations/bridge.ts';
import { chatStream, messageStream, responseStream } from '../proxy/llm/translations/upstream-streams.ts';
import { Cleanup, startGateway, upstream } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

interface Answer {
  readonly status?: number;
  readonly type?: string;
  readonly text: string;
  /** The connection breaks after the text. */
  readonly breaks?: boolean;
}

/** A service that always answers the same, and keeps what it was asked. */
async function service({ status = 200, type = 'text/event-stream', text, breaks = false }: Answer) {
  const asked: { readonly url: string; readonly body: JsonObject }[] = [];
  const server = cleanup.add(
    await upstream((request, response) => {
      let body = '';
      request.setEncoding('utf8');
      request.on('data', (part: string) => (body += part));
      request.on('end', () => {
        asked.push({ url: request.url ?? '', body: JSON.parse(body) as JsonObject });
        response.writeHead(status, { 'content-type': type });
        if (!breaks) response.end(text);
        else response.write(text, () => response.destroy());
      });
    }),
  );
  return { asked, url: `http://127.0.0.1:${server.port}/v1` };
}

/** One gateway before one service. */
async function gatewayTo(provider: string, url: string, more = '', fields = '') {
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
llm:
  models:
  - {name: "*", provider: ${provider}, params: {baseUrl: "${url}", apiKey: k}${fields}}
${more}`),
  );
  const origin = `http://127.0.0.1:${gateway.port(80)}`;
  return {
    ...gateway,
    openai: new OpenAI({ apiKey: 'c', baseURL: `${origin}/v1`, maxRetries: 0 }),
    anthropic: new Anthropic({ apiKey: 'c', baseURL: origin, maxRetries: 0 }),
  };
}

const claudeAsks = {
  model: 'm',
  max_tokens: 50,
  messages: [{ role: 'user' as const, content: 'What is the weather?' }],
};
const openaiAsks = { model: 'm', messages: [{ role: 'user' as const, content: 'What is the weather?' }] };
const said = ['Let me look – ✓.', { city: 'Zürich' }, {}];

describe('through the gateway', () => {
  test('a client of OpenAI streams from Anthropic', async () => {
    const { url, asked } = await service({ text: sse(messageStream) });
    const { openai, logged } = await gatewayTo('anthropic', url);
    const completion = await openai.chat.completions.stream(openaiAsks).finalChatCompletion();
    expect(completion.choices[0]?.message.tool_calls).toHaveLength(2);
    expect(asked[0]).toMatchObject({ url: '/v1/messages', body: { max_tokens: 4096, stream: true } });
    expect(await logged('gen_ai.usage.output_tokens=42')).toContain('gen_ai.response.model=claude-sonnet-5');
  });

  test('a client of Anthropic streams from chat completions', async () => {
    const { url, asked } = await service({ text: sse([...chatStream, '[DONE]']) });
    const { anthropic } = await gatewayTo('openAI', url);
    const message = await anthropic.messages.stream(claudeAsks).finalMessage();
    expect(
      message.content.map((block) => (block.type === 'text' ? block.text : 'input' in block && block.input)),
    ).toEqual(said);
    expect(asked[0]).toMatchObject({ url: '/v1/chat/completions', body: { stream_options: { include_usage: true } } });
  });

  test('a client of Anthropic streams from responses', async () => {
    const { url, asked } = await service({ text: sse(responseStream) });
    const { anthropic } = await gatewayTo('{custom: {formats: [{type: responses}]}}', url);
    const message = await anthropic.messages.stream(claudeAsks).finalMessage();
    expect(message.stop_reason).toBe('tool_use');
    expect(asked[0]).toMatchObject({ url: '/v1/responses', body: { max_output_tokens: 50 } });
  });

  test('a client of responses streams from chat completions', async () => {
    const { url } = await service({ text: sse([...chatStream, '[DONE]']) });
    const { openai } = await gatewayTo('{custom: {formats: [{type: completions}]}}', url);
    const response = await openai.responses.stream({ model: 'm', input: 'Weather?' }).finalResponse();
    expect(response.output_text).toBe(said[0]);
    expect(response.output).toHaveLength(3);
  });
});

describe('a service that fails', () => {
  test('in the middle of a stream ends the stream of the client with its own kind of error', async () => {
    const { url } = await service({ text: sse(chatStream.slice(0, 4)), breaks: true });
    const { anthropic, openai } = await gatewayTo('{custom: {formats: [{type: completions}]}}', url);
    await expect(anthropic.messages.stream(claudeAsks).finalMessage()).rejects.toThrow('upstream stream was cut');
    const response = openai.responses.stream({ model: 'm', input: 'Weather?' }).finalResponse();
    await expect(response).rejects.toThrow('upstream stream was cut');
  });

  test('in the middle of an event that nobody translates ends the stream the same way', async () => {
    const cut = { breaks: true } as const;
    const claude = await gatewayTo('anthropic', (await service({ ...cut, text: sse(messageStream.slice(0, 9)) })).url);
    await expect(claude.anthropic.messages.stream(claudeAsks).finalMessage()).rejects.toThrow(
      'upstream stream was cut',
    );
    const chat = await gatewayTo('openAI', (await service({ ...cut, text: sse(chatStream.slice(0, 4)) })).url);
    const completion = chat.openai.chat.completions.stream(openaiAsks).finalChatCompletion();
    await expect(completion).rejects.toThrow('upstream stream was cut');
    const other = await gatewayTo('openAI', (await service({ ...cut, text: sse(responseStream.slice(0, 7)) })).url);
    const response = other.openai.responses.stream({ model: 'm', input: 'Weather?' }).finalResponse();
    await expect(response).rejects.toThrow('upstream stream was cut');
  });

  test('in the middle of an event leaves half of it, and then says so', async () => {
    const { url } = await service({ text: `${sse(chatStream.slice(0, 2))}data: {"choices":[{"del`, breaks: true });
    const { port } = await gatewayTo('openAI', url);
    const body = JSON.stringify({ ...openaiAsks, stream: true });
    const answer = await fetch(`http://127.0.0.1:${port(80)}/v1/chat/completions`, { method: 'POST', body });
    expect((await answer.text()).split('\n\n').filter((event) => event !== '')).toEqual([
      ...sse(chatStream.slice(0, 2)).trim().split('\n\n'),
      'data: {"choices":[{"del',
      expect.stringContaining('data: {"error":{"message":"upstream stream was cut'),
    ]);
  });

  test('with an answer too deep to be written again is a bad gateway', async () => {
    const deep = `{"choices":[{"message":{"content":"x","tool_calls":[{"id":"a","function":{"name":"n","arguments":"${'['.repeat(400_000)}${']'.repeat(400_000)}"}}]}}]}`;
    const { url } = await service({ type: 'application/json', text: deep });
    const { anthropic } = await gatewayTo('openAI', url);
    const failed = anthropic.messages.create(claudeAsks);
    await expect(failed).rejects.toThrow('nested too deeply');
    await expect(failed).rejects.toMatchObject({ status: 502 });
  });

  test('before a stream is an error with its status, not a stream', async () => {
    const text = JSON.stringify({ error: { message: 'Slow down', type: 'tokens', code: 'rate_limit_exceeded' } });
    const { url } = await service({ status: 429, type: 'application/json', text });
    const { anthropic } = await gatewayTo('openAI', url);
    const failed = anthropic.messages.stream(claudeAsks).finalMessage();
    await expect(failed).rejects.toMatchObject({ status: 429, type: 'tokens' });
  });

  test.each([
    ['a page', '<html>hello</html>'],
    ['no choices', '{"id":"x"}'],
    ['half an answer', '{"choices":[{"mess'],
  ])('with %s is a bad gateway', async (_what, text) => {
    const { url } = await service({ type: 'application/json', text });
    const { anthropic } = await gatewayTo('openAI', url);
    const failed = anthropic.messages.create(claudeAsks);
    await expect(failed).rejects.toMatchObject({ status: 502, type: 'api_error' });
    await expect(failed).rejects.toThrow('failed to process LLM response');
  });

  test('with a page instead of a stream is a bad gateway, and with one that calls itself a stream ends it', async () => {
    const page = { text: '<html>hello</html>' };
    const honest = await gatewayTo('openAI', (await service({ ...page, type: 'text/html' })).url);
    await expect(honest.anthropic.messages.stream(claudeAsks).finalMessage()).rejects.toMatchObject({ status: 502 });
    const { anthropic } = await gatewayTo('openAI', (await service(page)).url);
    await expect(anthropic.messages.stream(claudeAsks).finalMessage()).rejects.toThrow(
      'before the answer was complete',
    );
  });
});

describe('what the other format cannot carry', () => {
  test('is left out', async () => {
    const { url, asked } = await service({ text: sse([...chatStream, '[DONE]']) });
    const { anthropic } = await gatewayTo('openAI', url);
    await anthropic.messages.stream({ ...claudeAsks, top_k: 5 } as typeof claudeAsks).finalMessage();
    expect(asked[0]?.body).not.toHaveProperty('top_k');
  });

  test('is refused where the configuration says so', async () => {
    const { url, asked } = await service({ text: sse([...chatStream, '[DONE]']) });
    const { anthropic } = await gatewayTo('openAI', url, '  onUnsupported: reject\n');
    const failed = anthropic.messages.create({ ...claudeAsks, top_k: 5 } as typeof claudeAsks);
    await expect(failed).rejects.toMatchObject({ status: 400, type: 'invalid_request_error' });
    await expect(failed).rejects.toThrow('completions cannot carry top_k');
    expect(asked).toHaveLength(0);
  });

  test.each([
    ['defaults: {top_k: 5, stop_sequences: ["."]}', {}],
    ['overrides: {top_k: 5}', { top_k: 7 }],
    ['transformation: {top_k: "5"}', {}],
  ])('is not blamed on the client where the configuration has written it: %s', async (written, sent) => {
    const { url, asked } = await service({ text: sse([...chatStream, '[DONE]']) });
    const { anthropic, admin } = await gatewayTo('openAI', url, '  onUnsupported: reject\n', `, ${written}`);
    const watch = await TraceWatch.open(admin);
    await anthropic.messages.stream({ ...claudeAsks, ...sent }).finalMessage();
    const trace = await watch.finished();
    expect(trace).toContain('"dropped":["top_k"]');
    expect(asked[0]?.body).not.toHaveProperty('top_k');
  });

  test('is blamed on the client where the configuration has written something else', async () => {
    const { url } = await service({ text: sse([...chatStream, '[DONE]']) });
    const written = ', defaults: {top_k: 5, service_tier: auto}, transformation: {stop: "1"}';
    const { anthropic } = await gatewayTo('openAI', url, '  onUnsupported: reject\n', written);
    const failed = anthropic.messages.create({ ...claudeAsks, top_k: 5 } as typeof claudeAsks);
    await expect(failed).rejects.toThrow(/cannot carry top_k"/);
  });
});

test('a request that is nested as deep as it gets is carried or refused, and the next one is served', async () => {
  const whole = { choices: [{ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }] };
  const { url } = await service({ type: 'application/json', text: JSON.stringify(whole) });
  const { anthropic, port } = await gatewayTo('openAI', url);
  const input = `${'{"a":['.repeat(200_000)}1${']}'.repeat(200_000)}`;
  const content = `[{"type":"tool_use","id":"a","name":"n","input":${input}}]`;
  const body = `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":${content}}]}`;
  const answer = await fetch(`http://127.0.0.1:${port(80)}/v1/messages`, { method: 'POST', body });
  expect([200, 400]).toContain(answer.status);
  expect(await anthropic.messages.create(claudeAsks)).toHaveProperty('stop_reason', 'end_turn');
});
