import { expect } from '@jest/globals';

import type { UpstreamFormat } from '../../../proxy/llm/formats.ts';
import { scripted } from '../providers/script.ts';
import { type Chat, type ChatClient, PNG, type Told, type Tool } from './client.ts';
import type { Column } from './columns.ts';
import { expectedInput, expectedRefusal, keepsSignatures, showsThoughts } from './expected.ts';
import type { World } from './world.ts';

/** One cell of the table. */
export interface Cell {
  readonly world: World;
  readonly client: ChatClient;
  readonly chat: Chat;
  readonly column: Column;
  /** What the provider is spoken to in. */
  readonly upstream: UpstreamFormat;
  readonly stream: boolean;
}

export interface Case {
  readonly name: string;
  readonly modes: readonly ('whole' | 'stream')[];
  run(cell: Cell): Promise<void>;
}

const both = ['whole', 'stream'] as const;

export const weather: Tool = {
  name: 'get_weather',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } } },
    required: ['city'],
    additionalProperties: false,
  },
};
const clock: Tool = { name: 'clock', parameters: { type: 'object', properties: {}, additionalProperties: false } };

/** Everything that a user does with a chat. One line each in the table of the documentation. */
export const cases: readonly Case[] = [
  {
    name: 'plain chat',
    modes: both,
    async run(cell) {
      const told = await say(cell, 'hello there');
      expect(told).toMatchObject({ text: 'echo: hello there', calls: [], finish: cell.client.finish.stop });
    },
  },
  {
    name: 'system prompt',
    modes: both,
    async run(cell) {
      const told = await say(cell, 'hello', { system: 'Be brief, said the mouse.' });
      expect(told.text).toBe('echo: hello');
      expect(upstreamBody(cell)).toContain('Be brief, said the mouse.');
    },
  },
  {
    name: 'multi-turn',
    modes: both,
    async run(cell) {
      const prompt = '@say I am Ann';
      const first = await say(cell, prompt);
      const second = await say(cell, 'and you', { earlier: [{ prompt, reply: first.reply }] });
      expect(second.text).toBe('echo: and you');
      expect(upstreamBody(cell)).toContain('I am Ann"');
    },
  },
  {
    name: 'tool call and its result',
    modes: both,
    async run(cell) {
      const tools = [weather];
      const prompt = '@say let me see\n@call get_weather {"city":"Paris","days":[1,2,3]}';
      const first = await say(cell, prompt, { tools });
      expect(first).toMatchObject({ text: 'let me see', finish: cell.client.finish.calls });
      expect(first.calls).toMatchObject([{ name: 'get_weather', input: { city: 'Paris', days: [1, 2, 3] } }]);
      const second = await answered(cell, { first, prompt, tools });
      expect(second).toMatchObject({
        text: expect.stringMatching(/^tools said: .*result 1/),
        finish: cell.client.finish.stop,
      });
    },
  },
  {
    name: 'parallel tool calls',
    modes: both,
    async run(cell) {
      const tools = [weather, clock];
      const prompt = '@call get_weather {"city":"Paris"}\n@call clock\n@call get_weather {"city":"Rome"}';
      const first = await say(cell, prompt, { tools });
      expect(first.calls).toMatchObject([
        { name: 'get_weather', input: { city: 'Paris' } },
        { name: 'clock', input: {} },
        { name: 'get_weather', input: { city: 'Rome' } },
      ]);
      // Google's clients tell calls apart by their order.
      const ids = new Set(first.calls.map(({ id }) => id));
      if (cell.client.format !== 'generateContent') expect(ids.size).toBe(3);
      const second = await answered(cell, { first, prompt, tools });
      expect(second.text).toMatch(/^tools said: .*result 1.* \| .*result 2.* \| .*result 3/);
    },
  },
  {
    name: 'empty arguments',
    modes: both,
    async run(cell) {
      const tools = [clock];
      const prompt = '@call clock';
      const first = await say(cell, prompt, { tools });
      expect(first.calls).toMatchObject([{ name: 'clock', input: {} }]);
      expect(first.finish).toBe(cell.client.finish.calls);
      expect((await answered(cell, { first, prompt, tools })).text).toMatch(/^tools said: .*result 1/);
    },
  },
  {
    name: 'structured output',
    modes: both,
    async run(cell) {
      const schema = {
        type: 'object',
        properties: { title: { type: 'string' }, pages: { type: 'integer' } },
        required: ['title', 'pages'],
        additionalProperties: false,
      };
      const told = await say(cell, '@json {"title":"Emma","pages":474}', { schema });
      expect(JSON.parse(told.text)).toEqual({ title: 'Emma', pages: 474 });
      expect(upstreamBody(cell)).toMatch(/pages\\*"/);
    },
  },
  {
    name: 'image input',
    modes: ['whole'],
    async run(cell) {
      const told = await say(cell, 'what is this', { image: true });
      expect(told.text).toBe('echo: what is this (1 images)');
      expect(upstreamBody(cell)).toContain(PNG);
    },
  },
  {
    name: 'reasoning',
    modes: both,
    async run(cell) {
      const told = await say(cell, '@think step by step\n@say forty-two', { reasoning: true });
      expect(told.text).toBe('forty-two');
      if (cell.client.lacks?.has('reasoning') !== true)
        expect(told.reasoning).toBe(showsThoughts(cell) ? 'step by step' : '');
    },
  },
  {
    name: 'reasoning before a tool call',
    modes: both,
    async run(cell) {
      const tools = [weather];
      const prompt = '@think where am I\n@call get_weather {"city":"Oslo"}';
      const first = await say(cell, prompt, { tools, reasoning: true });
      expect(first.calls).toMatchObject([{ name: 'get_weather', input: { city: 'Oslo' } }]);
      const second = await answered(cell, { first, prompt, tools, reasoning: true });
      expect(second.text).toMatch(/^tools said: .*result 1/);
      if (keepsSignatures(cell)) expect(upstreamBody(cell)).toMatch(/sig-sim|c2lnLXNpbQ==/);
    },
  },
  {
    name: 'stop by length',
    modes: both,
    async run(cell) {
      const told = await say(cell, '@say once upon a\n@length');
      expect(told).toMatchObject({ text: 'once upon a', finish: cell.client.finish.length });
    },
  },
  {
    name: 'refusal',
    modes: both,
    async run(cell) {
      const expected = expectedRefusal(cell);
      const told = say(cell, '@refuse');
      if ('message' in expected) await expect(told).rejects.toThrow(expected.message);
      else expect(await told).toMatchObject(expected);
    },
  },
  {
    name: 'usage with cached tokens',
    modes: both,
    async run(cell) {
      const prompt = '@say one two three\n@cached 7';
      const { usage } = await say(cell, prompt);
      const asked = { prompt, toolResults: [], images: 0 };
      const counted = scripted(asked).counted;
      expect(usage).toEqual({ input: expectedInput(cell, counted), cached: 7, output: counted.output });
    },
  },
];

function say(cell: Cell, prompt: string, more: Partial<Parameters<Chat['ask']>[1]> = {}): Promise<Told> {
  return cell.chat.ask(cell.column.name, { prompt, stream: cell.stream, ...more });
}

interface Call {
  readonly first: Told;
  readonly prompt: string;
  readonly tools: readonly Tool[];
  readonly reasoning?: boolean;
}

/** The conversation goes on with what the tools said. */
function answered(cell: Cell, { first, prompt, tools, reasoning = false }: Call): Promise<Told> {
  const results = first.calls.map(({ id, name }, index) => ({ id, name, text: `result ${index + 1}` }));
  const earlier = [{ prompt, reply: first.reply, results }];
  return cell.chat.ask(cell.column.name, { prompt: null, earlier, tools, reasoning, stream: cell.stream });
}

function upstreamBody({ world, column }: Cell): string {
  return JSON.stringify(world.asked(column).body);
}
