import { describe, expect, test } from '@jest/globals';

import { wayFor } from '../../../../proxy/llm/translations/table.ts';
import type { ChatFormat, UpstreamFormat } from '../../../../proxy/llm/formats.ts';
import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { formatsOf } from '../../../../proxy/llm/providers/copilot.ts';
import { anthropicModel, geminiModel } from '../../../../proxy/llm/providers/vertex.ts';
import { upstreamFormat } from '../../../../proxy/llm/providers/plan.ts';
import { providerOf } from '../../../../proxy/llm/providers/registry.ts';
import { type Case, made, type ServiceName, services } from './provider-case.ts';

const chats: readonly ChatFormat[] = ['completions', 'messages', 'responses', 'generateContent'];

type Spoken = readonly [service: ServiceName, model: string, spoken: readonly UpstreamFormat[]];

const spoken: readonly Spoken[] = [
  ['openai', 'gpt-4o', ['responses', 'completions']],
  ['azure', 'gpt-4o', ['responses', 'completions']],
  ['foundry', 'gpt-4o', ['responses', 'completions']],
  ['foundry', 'claude-x', ['messages']],
  ['anthropic', 'claude-x', ['messages']],
  ['gemini', 'gemini-2.5-pro', ['generateContent', 'completions']],
  ['vertex', 'claude-x', ['messages']],
  ['vertex', 'gemini-2.5-pro', ['generateContent', 'completions']],
  ['vertex', 'meta/llama-4', ['completions']],
  ['bedrock', 'amazon.nova-pro-v1:0', ['converse']],
  ['copilot', 'claude-x', ['messages', 'completions']],
  ['copilot', 'grok-4', ['responses']],
  ['custom', 'm', ['completions', 'messages']],
  ['customGemini', 'm', ['generateContent']],
];

const table = spoken.flatMap(([service, model, formats]) =>
  chats.map((chat) => [service, model, chat, formats] as const),
);

function waysKind(chat: ChatFormat, formats: readonly UpstreamFormat[]): readonly unknown[] {
  const way = wayFor(chat, formats);
  if (way === undefined) return ['unsupported', null];
  return [way.translation === null ? 'native' : 'translated', way.to];
}

describe('chats', () => {
  test.each(table)('%s with %s takes %s by the first format that it speaks', (service, model, chat, formats) => {
    const plan = providerOf(services[service], { authLocated: false }).plan({
      routeType: chat,
      model,
      streaming: false,
    });
    expect([plan.kind, upstreamFormat(plan)]).toEqual(waysKind(chat, formats));
  });

  test.each([
    ['claude-sonnet-4', ['messages', 'completions']],
    ['grok-code-fast-1', ['responses']],
    ['mai-1', ['responses']],
    ['gemini-2.5-pro', ['completions']],
    ['gpt-3.5-turbo', ['completions']],
    ['gpt-4o', ['completions']],
    ['gpt-5.4', ['completions', 'responses']],
    ['gpt-5-mini', ['completions', 'responses']],
    ['gpt-5.1-codex', ['responses']],
    ['o3', ['completions']],
    ['', ['completions']],
  ])('Copilot speaks with %j as %j', (model, formats) => expect(formatsOf(model)).toEqual(formats));
});

describe('what is no chat', () => {
  test.each([
    ['openai', 'embeddings', 'm', 'native'],
    ['openai', 'rerank', 'm', 'native'],
    ['openai', 'realtime', 'm', 'native'],
    ['openai', 'anthropicTokenCount', 'm', 'local'],
    ['openai', 'geminiCountTokens', 'm', 'unsupported'],
    ['azure', 'embeddings', 'm', 'native'],
    ['azure', 'rerank', 'm', 'native'],
    ['azure', 'anthropicTokenCount', 'm', 'local'],
    ['foundry', 'anthropicTokenCount', 'claude-x', 'native'],
    ['anthropic', 'embeddings', 'm', 'unsupported'],
    ['anthropic', 'rerank', 'm', 'unsupported'],
    ['anthropic', 'anthropicTokenCount', 'm', 'native'],
    ['gemini', 'embeddings', 'm', 'native'],
    ['gemini', 'rerank', 'm', 'unsupported'],
    ['gemini', 'anthropicTokenCount', 'm', 'local'],
    ['gemini', 'geminiCountTokens', 'm', 'native'],
    ['vertex', 'anthropicTokenCount', 'claude-x', 'native'],
    ['vertex', 'anthropicTokenCount', 'gemini-2.5-pro', 'local'],
    ['vertex', 'geminiCountTokens', 'gemini-2.5-pro', 'native'],
    ['vertex', 'geminiCountTokens', 'claude-x', 'unsupported'],
    ['bedrock', 'anthropicTokenCount', 'amazon.nova-pro-v1:0', 'local'],
    ['bedrock', 'geminiCountTokens', 'm', 'unsupported'],
    ['bedrock', 'realtime', 'm', 'unsupported'],
    ['custom', 'embeddings', 'm', 'native'],
    ['custom', 'rerank', 'm', 'unsupported'],
    ['custom', 'realtime', 'm', 'unsupported'],
    ['custom', 'anthropicTokenCount', 'm', 'native'],
    ['customPaths', 'realtime', 'm', 'native'],
    ['customPaths', 'anthropicTokenCount', 'm', 'local'],
  ] as const)('%s takes %s of %s: %s', (service, routeType, model, kind) => {
    const provider = providerOf(services[service], { authLocated: false });
    expect(provider.plan({ routeType, model, streaming: false }).kind).toBe(kind);
  });

  test.each(Object.keys(services))('%s lets through what nobody has to understand', (service) => {
    // `as`: the keys of the same record.
    const provider = providerOf(services[service as ServiceName], { authLocated: false });
    for (const routeType of ['detect', 'passthrough'] as const)
      expect(provider.plan({ routeType, model: '', streaming: false })).toMatchObject({ kind: 'native', format: null });
  });
});

describe('models of Vertex', () => {
  test.each([
    ['claude-sonnet-4-20250514', 'claude-sonnet-4@20250514'],
    ['claude-3-5-haiku@20241022', 'claude-3-5-haiku@20241022'],
    ['claude-opus-4-1', 'claude-opus-4-1'],
    ['anthropic/claude-x', 'claude-x'],
    ['publishers/anthropic/models/claude-x-20250101', 'claude-x@20250101'],
    ['gemini-2.5-pro', undefined],
    ['meta/claude', undefined],
  ])('%s is Claude %s', (model, name) => expect(anthropicModel(model)).toBe(name));

  test.each([
    ['gemini-2.5-pro', 'gemini-2.5-pro'],
    ['gemini@default', 'gemini@default'],
    ['google/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['projects/p/locations/l/publishers/google/models/gemini-2.5-pro', 'gemini-2.5-pro'],
    ['gemini-embedding-001', undefined],
    ['text-embedding-005', undefined],
    ['gemini-2.5/x', undefined],
    ['geminix', undefined],
    ['gpt-4o', undefined],
  ])('%s is Gemini %s', (model, name) => expect(geminiModel(model)).toBe(name));
});

describe('tokens of the input leave out what was cached', () => {
  test.each([
    [{ service: 'openai', type: 'completions', model: 'm' }, false],
    [{ service: 'gemini', type: 'generateContent', model: 'm' }, false],
    [{ service: 'azure', type: 'completions', model: 'm' }, false],
    [{ service: 'foundry', type: 'messages', model: 'claude-x' }, true],
    [{ service: 'anthropic', type: 'messages', model: 'm' }, true],
    [{ service: 'bedrock', type: 'detect', model: 'm' }, true],
    [{ service: 'vertex', type: 'messages', model: 'claude-x' }, true],
    [{ service: 'vertex', type: 'generateContent', model: 'gemini-2.5-pro' }, false],
    [{ service: 'copilot', type: 'completions', model: 'claude-x' }, true],
    [{ service: 'copilot', type: 'completions', model: 'gpt-4o' }, false],
    [{ service: 'custom', type: 'messages', model: 'm' }, true],
    [{ service: 'custom', type: 'completions', model: 'm' }, false],
  ] as const)('%j: %s', (row, excludes) => {
    const { provider, plan, request } = made(row);
    expect(provider.excludesCache(request.model, plan)).toBe(excludes);
  });
});

describe('bodies are put right', () => {
  const moderation = { model: 'omni-moderation-latest', input: 'block', output: 'score' } as const;

  function adapted(row: Omit<Case, 'client'>, body: JsonObject): JsonObject {
    const { plan, request } = made(row);
    if (plan.kind !== 'native') throw new Error(`a plan of the kind ${plan.kind}`);
    return plan.adapt?.(body, request) ?? body;
  }

  test.each([
    ['openai', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    ['custom', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    ['vertex', { stream: true }, { stream: true, stream_options: { include_usage: true } }],
    ['openai', { stream: true, stream_options: {} }, { stream: true, stream_options: {} }],
    ['openai', { stream: false }, { stream: false }],
  ] as const)('%s: streams tell their usage: %j', (service, body, expected) => {
    expect(adapted({ service, type: 'completions', model: 'x/m' }, body)).toEqual(expected);
  });

  test.each([
    ['openai', 'gpt-5', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['openai', 'gpt-5', { max_tokens: 5, max_completion_tokens: 6 }, { max_completion_tokens: 6 }],
    ['openai', 'o3', { max_tokens: 5 }, { max_tokens: 5 }],
    ['azure', 'gpt-5', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['copilot', 'gpt-4o', { max_tokens: 5 }, { max_completion_tokens: 5 }],
    ['custom', 'gpt-5', { max_tokens: 5 }, { max_tokens: 5 }],
  ] as const)('%s, %s: the limit has its new name: %j', (service, model, body, expected) => {
    expect(adapted({ service, type: 'completions', model }, body)).toEqual(expected);
  });

  test.each([
    ['openai', 'gpt-5', true],
    ['azure', 'o3-mini', true],
    ['openai', 'deepseek-reasoner', false],
    ['custom', 'gpt-5', false],
  ] as const)('%s, %s: thoughts that a client sends back are taken out: %s', (service, model, out) => {
    const said = { role: 'assistant', content: 'x' };
    const messages = [
      { role: 'user', content: 'Hi' },
      { ...said, reasoning_content: 'Hm', reasoning_signature: 's' },
    ];
    const body = { model, messages };
    const expected = out ? { model, messages: [messages[0], said] } : body;
    expect(adapted({ service, type: 'completions', model }, body)).toEqual(expected);
  });

  test.each(['anthropic', 'foundry'] as const)('%s has its version in no body', (service) => {
    const body = { anthropic_version: 'vertex-2023-10-16', max_tokens: 5, messages: [] };
    const rest = { max_tokens: 5, messages: [] };
    expect(adapted({ service, type: 'messages', model: 'claude-x' }, body)).toEqual(rest);
    expect(adapted({ service, type: 'messages', model: 'claude-x' }, rest)).toBe(rest);
  });

  test('nothing is made anew that is right', () => {
    const body = { model: 'gpt-5', messages: [] };
    expect(adapted({ service: 'openai', type: 'completions', model: 'gpt-5' }, body)).toBe(body);
  });

  test.each(['completions', 'responses'] as const)('OpenAI moderates %s where it is asked to', (routeType) => {
    const provider = providerOf({ kind: 'openai', moderation }, { authLocated: false });
    const request = { routeType, model: 'gpt-5', streaming: false };
    const plan = provider.plan(request);
    expect(plan.kind === 'native' && plan.adapt?.({ moderation: 'mine' }, request)).toEqual({
      moderation: {
        model: 'omni-moderation-latest',
        policy: { input: { mode: 'block' }, output: { mode: 'score' } },
      },
    });
  });

  test('Gemini takes no model and no stream in its body', () => {
    const body = { model: 'm', stream: true, contents: [] };
    expect(adapted({ service: 'gemini', type: 'generateContent', model: 'm' }, body)).toEqual({ contents: [] });
    expect(adapted({ service: 'gemini', type: 'geminiCountTokens', model: 'm' }, body)).toEqual({ contents: [] });
  });

  test('Claude at Vertex has its version in the body', () => {
    const scoped = { type: 'ephemeral', scope: 'global' };
    const body = {
      model: 'claude-x',
      stream: true,
      output_format: { type: 'json_schema' },
      output_config: { effort: 'low' },
      system: [{ type: 'text', text: 'x', cache_control: scoped }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'y', cache_control: scoped }] }],
    };
    expect(adapted({ service: 'vertex', type: 'messages', model: 'claude-x' }, body)).toEqual({
      anthropic_version: 'vertex-2023-10-16',
      stream: true,
      output_config: { effort: 'low' },
      system: [{ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'y', cache_control: { type: 'ephemeral' } }] }],
    });
    expect(body.system[0]?.cache_control).toBe(scoped);
  });

  test('a count of Claude at Vertex keeps the model, as Vertex spells it', () => {
    const row = { service: 'vertex', type: 'anthropicTokenCount', model: 'claude-x-20250101' } as const;
    expect(adapted(row, { model: 'claude-x-20250101', messages: [] })).toEqual({
      model: 'claude-x@20250101',
      messages: [],
      anthropic_version: 'vertex-2023-10-16',
    });
  });
});
