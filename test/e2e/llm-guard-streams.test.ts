import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { Agent, setGlobalDispatcher } from 'undici';

import { eventually } from './clients.ts';
import { Cleanup } from './gateway.ts';
import { type Asked, guardService, says } from './guard-services.ts';
import { guarding, MASK_SSN, metric, REJECT_SSN } from './guarded-model.ts';

// Node's own fetch looks for it where Jest does not let it.
setGlobalDispatcher(new Agent());

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const { model, guarded } = guarding(cleanup);

const PIECES = ['Your number is 12', '3-4', '5-67', '89', ', I think.'];
const MASKED = 'Your number is <SSN>, I think.';

interface Client {
  readonly name: string;
  readonly provider: string;
  whole(at: string): Promise<unknown>;
  streamed(at: string): Promise<string>;
}

const clients: readonly Client[] = [
  {
    name: 'chat completions',
    provider: 'openAI',
    async whole(at) {
      const client = new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
      const answer = await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'hi' }] });
      return answer.choices[0]?.message.content;
    },
    async streamed(at) {
      const client = new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
      const events = await client.chat.completions.create({
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        stream: true,
      });
      let text = '';
      for await (const event of events) text += event.choices[0]?.delta.content ?? '';
      return text;
    },
  },
  {
    name: 'responses',
    provider: 'openAI',
    async whole(at) {
      const client = new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
      return (await client.responses.create({ model: 'm', input: 'hi' })).output_text;
    },
    async streamed(at) {
      const client = new OpenAI({ baseURL: `${at}/v1`, apiKey: 'k', maxRetries: 0 });
      const events = client.responses.stream({ model: 'm', input: 'hi' });
      let text = '';
      events.on('response.output_text.delta', ({ delta }) => void (text += delta));
      const final = await events.finalResponse();
      expect(final.output_text).toBe(text);
      return text;
    },
  },
  {
    name: 'messages',
    provider: 'anthropic',
    async whole(at) {
      const client = new Anthropic({ baseURL: at, apiKey: 'k', maxRetries: 0 });
      const answer = await client.messages.create({
        model: 'm',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hi' }],
      });
      return answer.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    async streamed(at) {
      const client = new Anthropic({ baseURL: at, apiKey: 'k', maxRetries: 0 });
      const events = client.messages.stream({
        model: 'm',
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hi' }],
      });
      return await events.finalText();
    },
  },
  {
    name: 'messages, translated',
    provider: 'openAI',
    whole: (at) => clients[2]?.whole(at) ?? Promise.reject(new Error('no client')),
    streamed: (at) => clients[2]?.streamed(at) ?? Promise.reject(new Error('no client')),
  },
  {
    name: 'generateContent',
    provider: 'gemini',
    async whole(at) {
      const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: at } });
      return (await client.models.generateContent({ model: 'm', contents: 'hi' })).text;
    },
    async streamed(at) {
      const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: at } });
      let text = '';
      for await (const event of await client.models.generateContentStream({ model: 'm', contents: 'hi' }))
        text += event.text ?? '';
      return text;
    },
  },
];

describe.each(clients.map((client) => [client.name, client] as const))('answers as %s', (_name, client) => {
  const guards = `{streaming: Enabled, response: [${MASK_SSN}]}`;

  test('are masked whole', async () => {
    const service = await model(PIECES);
    const { at } = await guarded(service.port, guards, { provider: client.provider });
    expect(await client.whole(at)).toBe(MASKED);
  });

  test('are masked while they come', async () => {
    const service = await model(PIECES);
    const { at, gateway } = await guarded(service.port, guards, { provider: client.provider });
    expect(await client.streamed(at)).toBe(MASKED);
    await eventually('the count', async () => (await metric(gateway)).join('').includes('action="Mask"'));
  });

  test('are cut while they come, the model too', async () => {
    const service = await model([...PIECES, ...Array.from({ length: 2000 }, () => 'and more ')]);
    const { at, gateway } = await guarded(service.port, `{streaming: Enabled, response: [${REJECT_SSN}]}`, {
      provider: client.provider,
    });
    await expect(client.streamed(at)).rejects.toThrow(/inappropriate content/);
    await eventually('the model to be left', () => service.closed.early);
    expect(await gateway.logged('reason=Guardrail')).toContain('error="response rejected by regex guardrail"');
  });

  test('pass unguarded as streams unless that is enabled', async () => {
    const service = await model(PIECES);
    const { at } = await guarded(service.port, `{response: [${MASK_SSN}]}`, { provider: client.provider });
    expect(await client.streamed(at)).toBe(PIECES.join(''));
  });
});

describe('streams and services', () => {
  const webhook = (port: number, more = '') => `{webhook: {target: {host: "127.0.0.1:${port}"}${more}}}`;
  const streamed = (guards: string) => `{streaming: Enabled, response: [${guards}]}`;
  const openaiClient = clients[0];
  if (openaiClient === undefined) throw new Error('no client');

  test('are judged in windows, and masked', async () => {
    const hook = cleanup.add(
      await guardService(({ json }, response) => {
        const { body } = json as { body: { choices: { message: { content: string } }[] } };
        const content = (body.choices[0]?.message.content ?? '').replaceAll('darn', '****');
        says({ action: { body: { choices: [{ message: { role: 'assistant', content } }] } } })({} as Asked, response);
      }),
    );
    const pieces = Array.from({ length: 400 }, (_, index) =>
      index % 50 === 0 ? 'da' : index % 50 === 1 ? 'rn ' : 'good word ',
    );
    const service = await model(pieces);
    const { at } = await guarded(service.port, streamed(webhook(hook.port)));
    expect(await openaiClient.streamed(at)).toBe(pieces.join('').replaceAll('darn', '****'));
    expect(hook.asked.length).toBeGreaterThan(2);
    expect(hook.asked.length).toBeLessThan(6);
  });

  test('end where the service cannot be asked and nothing may pass without it', async () => {
    const service = await model(['hello ', 'there']);
    const closed = await guarded(service.port, streamed(webhook(9)));
    await expect(openaiClient.streamed(closed.at)).rejects.toThrow('Content blocked by guardrail policy');
    const open = await guarded(service.port, streamed(webhook(9, ', failureMode: failOpen')));
    expect(await openaiClient.streamed(open.at)).toBe('hello there');
  });

  test('are not held up by an audit', async () => {
    const hook = cleanup.add(await guardService(() => {}));
    const service = await model(['x'.repeat(3000), ' end']);
    const { at } = await guarded(service.port, streamed(webhook(hook.port, ', action: audit')));
    expect(await openaiClient.streamed(at)).toBe(`${'x'.repeat(3000)} end`);
    expect(hook.asked.length).toBeGreaterThan(0);
  });

  test('are given up with their client, the question to the service too', async () => {
    const given = { up: false };
    const hook = cleanup.add(
      await guardService((_asked, response) => void response.on('close', () => (given.up = true))),
    );
    const service = await model(['x'.repeat(3000), ' end']);
    const { openai } = await guarded(service.port, streamed(webhook(hook.port)));
    const abort = new AbortController();
    const events = await openai.chat.completions.create(
      { model: 'm', messages: [], stream: true },
      { signal: abort.signal },
    );
    await eventually('the question', () => hook.asked.length === 1);
    abort.abort();
    await eventually('the end of the question', () => given.up);
    expect(events.controller.signal.aborted).toBe(true);
  });
});
