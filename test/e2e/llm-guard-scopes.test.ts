import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';

import { Cleanup, startGateway, upstream } from './gateway.ts';

// Node's own fetch looks for it where Jest does not let it.
setGlobalDispatcher(new Agent());

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const SECRET = '123-45-6789';
const THOUGHT = `They are ${SECRET}.`;
const SAID = `You are ${SECRET}, ok?`;
// Escaped, as JSON may have it: only the value shows what it is.
const ARGS = `{"id":"${SECRET}","n":123456789,"mail":"me\\u0040example.com"}`;
const MASKED_ARGS = { id: '<SSN>', n: '<SSN>', mail: '<EMAIL_ADDRESS>' };

/** What a model says, calls and thinks, whole and streamed. */
interface Vendor {
  readonly whole: object;
  readonly events: readonly object[];
  readonly named: boolean;
}

const cut = (text: string, size = 3): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];

const chunk = (delta: object, finish: string | null = null) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const called = { id: 't', type: 'function', function: { name: 'f', arguments: ARGS } };

const completions: Vendor = {
  named: false,
  whole: {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: SAID, reasoning_content: THOUGHT, tool_calls: [called] },
        finish_reason: 'tool_calls',
      },
    ],
  },
  events: [
    chunk({ role: 'assistant', content: '' }),
    ...cut(THOUGHT).map((text) => chunk({ reasoning_content: text })),
    ...cut(SAID).map((text) => chunk({ content: text })),
    chunk({ tool_calls: [{ index: 0, ...called, function: { name: 'f', arguments: '' } }] }),
    ...cut(ARGS).map((text) => chunk({ tool_calls: [{ index: 0, function: { arguments: text } }] })),
    chunk({}, 'tool_calls'),
  ],
};

const message = (content: object[], stop: string | null) => ({
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const block = (index: number, start: object, deltas: object[]) => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
];

const messages: Vendor = {
  named: true,
  whole: message(
    [
      { type: 'thinking', thinking: THOUGHT, signature: 's' },
      { type: 'text', text: SAID },
      { type: 'tool_use', id: 't', name: 'f', input: JSON.parse(ARGS) },
    ],
    'tool_use',
  ),
  events: [
    { type: 'message_start', message: message([], null) },
    ...block(0, { type: 'thinking', thinking: '', signature: '' }, [
      ...cut(THOUGHT).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: 's' },
    ]),
    ...block(
      1,
      { type: 'text', text: '' },
      cut(SAID).map((text) => ({ type: 'text_delta', text })),
    ),
    ...block(
      2,
      { type: 'tool_use', id: 't', name: 'f', input: {} },
      cut(ARGS).map((json) => ({ type: 'input_json_delta', partial_json: json })),
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ],
};

const candidate = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
});
const functionCall = { functionCall: { name: 'f', args: JSON.parse(ARGS) } };

const gemini: Vendor = {
  named: false,
  whole: candidate([{ text: THOUGHT, thought: true }, { text: SAID }, functionCall], { finishReason: 'STOP' }),
  events: [
    ...cut(THOUGHT).map((text) => candidate([{ text, thought: true }])),
    ...cut(SAID).map((text) => candidate([{ text }])),
    candidate([functionCall], { finishReason: 'STOP' }),
  ],
};

/** A model that writes its streams in pieces of `size` bytes, wherever they cut. */
async function model(size: number): Promise<number> {
  const server = cleanup.add(
    await upstream((request, response) => {
      const url = request.url ?? '';
      const vendor = url.includes('enerateContent') ? gemini : url.endsWith('/messages') ? messages : completions;
      let body = '';
      request.on('data', (data: Buffer) => (body += data.toString()));
      request.on('end', () => {
        const streamed = url.includes('stream') || body.includes('"stream":true');
        response.writeHead(200, { 'content-type': streamed ? 'text/event-stream' : 'application/json' });
        if (!streamed) return response.end(JSON.stringify(vendor.whole));
        const bytes = Buffer.from(vendor.events.map((event) => framed(event, vendor.named)).join(''));
        const next = (at: number): void => {
          if (at >= bytes.length) return void response.end(vendor === completions ? 'data: [DONE]\n\n' : '');
          response.write(bytes.subarray(at, at + size), () => setImmediate(next, at + size));
        };
        next(0);
      });
    }),
  );
  return server.port;
}

function framed(event: object, named: boolean): string {
  const name = named && 'type' in event ? `event: ${String(event.type)}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}

/** A gateway with one guard over answers, and three models of as many vendors. */
async function guarded(port: number, guard: string): Promise<string> {
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
llm:
  policies: {guardrails: {streaming: Enabled, response: [${guard}]}}
  models:
  - {name: o, provider: {custom: {formats: [{type: completions}]}}, params: {baseUrl: "http://127.0.0.1:${port}/v1"}}
  - {name: a, provider: anthropic, params: {hostOverride: "127.0.0.1:${port}"}}
  - {name: g, provider: gemini, params: {hostOverride: "127.0.0.1:${port}"}}
`),
  );
  return `http://127.0.0.1:${gateway.port(80)}`;
}

/** What a library has shown, all of it, and the arguments that it has understood. */
interface Shown {
  readonly all: unknown;
  readonly args: unknown;
}

const openai = (at: string) => new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
const asked = [{ role: 'user' as const, content: 'hi' }];

async function completionOf(at: string, name: string, stream: boolean): Promise<Shown> {
  const chat = openai(at).chat.completions;
  const answer = stream
    ? await chat.stream({ model: name, messages: asked }).finalChatCompletion()
    : await chat.create({ model: name, messages: asked });
  const call = answer.choices[0]?.message.tool_calls?.[0];
  return { all: answer, args: JSON.parse((call?.type === 'function' && call.function.arguments) || '{}') };
}

async function responseOf(at: string, name: string, stream: boolean): Promise<Shown> {
  const { responses } = openai(at);
  if (!stream) {
    const answer = await responses.create({ model: name, input: 'hi' });
    return { all: answer, args: argumentsIn(answer.output) };
  }
  const told: unknown[] = [];
  const events = responses.stream({ model: name, input: 'hi' });
  for await (const event of events) told.push(event);
  const final = await events.finalResponse();
  return { all: [told, final], args: argumentsIn(final.output) };
}

function argumentsIn(output: readonly { type: string; arguments?: unknown }[]): unknown {
  return JSON.parse(String(output.find(({ type }) => type === 'function_call')?.arguments));
}

async function messageOf(at: string, name: string, stream: boolean): Promise<Shown> {
  const client = new Anthropic({ baseURL: at, apiKey: 'k', maxRetries: 0 });
  const wanted = { model: name, max_tokens: 10, messages: asked };
  const answer = stream ? await client.messages.stream(wanted).finalMessage() : await client.messages.create(wanted);
  const use = answer.content.find((each) => each.type === 'tool_use');
  return { all: answer, args: use?.type === 'tool_use' ? use.input : null };
}

async function contentOf(at: string, name: string, stream: boolean): Promise<Shown> {
  const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: at } });
  const wanted = { model: name, contents: 'hi' };
  const all = [];
  if (stream) for await (const event of await models.generateContentStream(wanted)) all.push(event);
  else all.push(await models.generateContent(wanted));
  const parts = all.flatMap((event) => event.candidates?.[0]?.content?.parts ?? []);
  const said = parts.map(({ text, thought }) => (thought === true ? '' : (text ?? ''))).join('');
  const thoughts = parts.map(({ text, thought }) => (thought === true ? (text ?? '') : '')).join('');
  return { all: { said, thoughts, all }, args: parts.find((part) => part.functionCall)?.functionCall?.args };
}

type Client = (at: string, name: string, stream: boolean) => Promise<Shown>;

const clients: readonly (readonly [what: string, client: Client, model: string])[] = [
  ['chat completions', completionOf, 'o'],
  ['chat completions of Anthropic', completionOf, 'a'],
  ['chat completions of Gemini', completionOf, 'g'],
  ['responses', responseOf, 'o'],
  ['messages', messageOf, 'a'],
  ['messages of chat completions', messageOf, 'o'],
  ['generateContent', contentOf, 'g'],
];

const ALL = 'scope: [messages, toolInput, reasoning]';

describe.each(clients)('an answer as %s', (_what, client, name) => {
  test.each([[1], [7], [150]])('has nothing in it that a guard masks, cut every %d bytes', async (size) => {
    const guard = `{regex: {rules: [{builtin: ssn}, {builtin: email}]}, ${ALL}}`;
    const at = await guarded(await model(size), guard);
    for (const stream of [false, true]) {
      const { all, args } = await client(at, name, stream);
      const text = JSON.stringify(all);
      expect(text).toContain('You are <SSN>, ok?');
      expect(text).not.toMatch(/123|6789|example/);
      expect(args).toEqual(MASKED_ARGS);
    }
  });

  test('has its calls and thoughts looked at only where that is asked for', async () => {
    const at = await guarded(await model(40), '{regex: {rules: [{builtin: ssn}, {builtin: email}]}}');
    for (const stream of [false, true]) {
      const { all, args } = await client(at, name, stream);
      expect(JSON.stringify(all)).toContain('You are <SSN>, ok?');
      expect(args).toEqual(JSON.parse(ARGS));
    }
  });

  test('is rejected for what it calls with', async () => {
    const guard = '{regex: {action: reject, rules: [{builtin: email}]}, scope: [toolInput]}';
    const at = await guarded(await model(40), guard);
    for (const stream of [false, true]) await expect(client(at, name, stream)).rejects.toThrow(/inappropriate content/);
  });
});
