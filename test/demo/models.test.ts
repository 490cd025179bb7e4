import { afterEach, describe, expect, test } from '@jest/globals';

import { ask, type AskOptions, type AskResult } from '../../src/chat/ask.ts';
import { CHAT_FORMATS, type ChatFormatName } from '../../src/chat/formats/registry.ts';
import { ask as send, Cleanup } from '../e2e/gateway.ts';
import { startModels } from './models.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** In which formats each can be asked. */
const FORMATS: Readonly<Record<string, readonly ChatFormatName[]>> = {
  'gpt-demo': ['completions', 'messages', 'responses'],
  'claude-demo': ['completions', 'messages'],
  'gemini-demo': CHAT_FORMATS,
};
const MODELS = Object.keys(FORMATS);

async function start() {
  const demo = cleanup.add(await startModels());
  const options = (format: ChatFormatName, onText: (text: string) => void = () => {}): AskOptions => ({
    url: new URL(`http://127.0.0.1:${demo.modelPort}`),
    format,
    apiKey: undefined,
    headers: [],
    tls: { insecure: false, ca: undefined },
    timeoutMs: 10_000,
    signal: new AbortController().signal,
    hint: 'look',
    modelsHint: 'list',
    onText: async (text) => onText(text),
  });
  const question = (model: string, prompt: string, streaming = true) => ({
    model,
    prompt,
    system: 'Be short.',
    streaming,
  });
  return { demo, options, question };
}

describe('the simulated models', () => {
  test('answer in every format of a client, whole and as a stream', async () => {
    const { options, question } = await start();
    const cases = Object.entries(FORMATS).flatMap(([model, formats]) =>
      formats.flatMap((format) => [true, false].map((streaming) => ({ model, format, streaming }))),
    );
    const answers = await Promise.all(
      cases.map(async ({ model, format, streaming }): Promise<AskResult & { parts: number }> => {
        let parts = 0;
        const result = await ask(
          question(model, 'What is a gateway?', streaming),
          options(format, () => (parts += 1)),
        );
        return { ...result, parts };
      }),
    );
    for (const [at, { model, streaming }] of cases.entries()) {
      const answer = answers[at];
      expect(answer).toMatchObject({ streamed: streaming, status: 200 });
      expect(answer?.message.text).toContain(`This is ${model}, a simulated model. You asked: "What is a gateway?"`);
      expect(answer?.message.usage).toMatchObject({ inputTokens: 9 });
      expect(answer?.message.usage?.outputTokens).toBeGreaterThan(40);
      expect((answer?.parts ?? 0) > 5).toBe(streaming);
    }
  });

  test('call the tool that they are given, and say what it told them', async () => {
    const { demo } = await start();
    const tools = [
      {
        type: 'function',
        function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
      },
    ];
    const turn = { role: 'user', content: 'How is the weather in Ulm?' };
    for (const model of MODELS) {
      const called = JSON.parse((await post(demo.modelPort, { model, tools, messages: [turn] })).body);
      const [call] = called.choices[0].message.tool_calls;
      expect(call.function).toEqual({ name: 'get_weather', arguments: '{"city":"Ulm"}' });
      const told = { role: 'tool', tool_call_id: call.id, content: 'rain' };
      const messages = [turn, called.choices[0].message, told];
      const answer = await post(demo.modelPort, { model, tools, messages });
      expect(answer.body).toContain('The tool says: ');
      expect(answer.body).toContain('rain');
    }
  });

  test('fail with the status that they are asked for, in the format of the client', async () => {
    const { options, question } = await start();
    for (const model of MODELS) {
      await expect(ask(question(model, 'fail with 429'), options('messages'))).rejects.toMatchObject({
        message: `the model service answered 429 Too Many Requests: ${model} fails, as it was asked to`,
      });
    }
  });

  test('break off in the middle, which is told in words', async () => {
    const { options, question } = await start();
    let text = '';
    await expect(
      ask(
        question('claude-demo', 'break off'),
        options('completions', (part) => (text += part)),
      ),
    ).rejects.toMatchObject({ code: 'GW_LLM_STREAM' });
    expect(text).toContain('This is claude-demo');
  });

  test('stand in for each other when one fails', async () => {
    const { options, question } = await start();
    const answer = await ask(question('any', 'fail gpt-demo with 503'), options('completions'));
    expect(answer.message.text).toMatch(/This is (claude|gemini)-demo/);
    // It is left alone for a while.
    expect((await ask(question('any', 'Hello'), options('completions'))).message.text).not.toContain('gpt-demo');
  });

  test('keep their keys to themselves', async () => {
    const { demo } = await start();
    const answer = await post(demo.modelPort, { model: 'gpt-demo', messages: [{ role: 'user', content: 'Hello' }] });
    expect(answer.body).not.toContain('demo-openai-key');
    const direct = await send(demo.upstreamPort, '/v1/chat/completions', {
      method: 'POST',
      body: '{"model":"gpt-demo"}',
    });
    expect(direct.status).toBe(401);
  });
});

function post(port: number, body: unknown) {
  return send(port, '/v1/chat/completions', { method: 'POST', body: JSON.stringify(body) });
}
