import type { TokenUsage } from '@aws-sdk/client-bedrock-runtime';
import type { GenerateContentResponse } from '@google/genai';
import { describe, expect, test } from '@jest/globals';

import type { JsonObject } from '../../../../proxy/exchange/attributes.ts';
import { converseWire } from '../../../../proxy/llm/formats/converse/wire.ts';
import { geminiWire } from '../../../../proxy/llm/formats/gemini/wire.ts';
import { bodyTold } from '../../../../proxy/llm/formats/registry.ts';

/** What arrives when a service sends it. */
function sent(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject; // what the parser makes
}

describe('Gemini', () => {
  // Enumerations of the vendor's types are texts on the wire.
  const usage: Partial<Record<keyof NonNullable<GenerateContentResponse['usageMetadata']>, unknown>> = {
    promptTokenCount: 10,
    candidatesTokenCount: 4,
    thoughtsTokenCount: 3,
    cachedContentTokenCount: 2,
    totalTokenCount: 17,
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 7 },
      { modality: 'AUDIO', tokenCount: 3 },
    ],
    candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 4 }],
  };

  test('counts thoughts as output, and tells kinds of tokens apart', () => {
    const told = geminiWire.answer(sent({ modelVersion: 'gemini-2.5-pro-001', usageMetadata: usage }));
    expect(told).toMatchObject({
      model: 'gemini-2.5-pro-001',
      usage: {
        inputTokens: 10,
        outputTokens: 7,
        totalTokens: 17,
        cachedInputTokens: 2,
        reasoningTokens: 3,
        inputTextTokens: 7,
        inputAudioTokens: 3,
        outputImageTokens: 4,
      },
    });
  });

  test('tells texts for people from thoughts', () => {
    const parts = [{ text: 'Hm', thought: true }, { text: 'Hi' }];
    expect(geminiWire.delta(null, sent({ candidates: [{ content: { parts } }] }))).toBe('Hi');
    expect(geminiWire.delta(null, sent({ usageMetadata: usage }))).toBe('');
  });
});

describe('Converse', () => {
  const usage: TokenUsage = {
    inputTokens: 5,
    outputTokens: 7,
    totalTokens: 12,
    cacheReadInputTokens: 3,
    cacheWriteInputTokens: 2,
  };
  const expected = {
    usage: {
      inputTokens: 5,
      outputTokens: 7,
      totalTokens: 12,
      cachedInputTokens: 3,
      cacheCreationInputTokens: 2,
    },
  };

  test('tells its usage with answers, and once in a stream', () => {
    expect(converseWire.answer(sent({ usage }))).toEqual(expected);
    expect(converseWire.told('metadata', sent({ usage, metrics: {} }))).toEqual(expected);
    expect(converseWire.told('messageStop', sent({ stopReason: 'end_turn' }))).toBeNull();
  });

  test('has texts in deltas', () => {
    expect(converseWire.delta('contentBlockDelta', sent({ delta: { text: 'Hi' } }))).toBe('Hi');
    expect(converseWire.delta('contentBlockDelta', sent({ delta: { toolUse: { input: '{' } } }))).toBeNull();
  });
});

test('counts of tokens that were asked for are told', () => {
  expect(bodyTold('anthropicTokenCount')?.({ input_tokens: 3 })).toEqual({ countTokens: 3 });
  expect(bodyTold('geminiCountTokens')?.({ totalTokens: 4 })).toEqual({ countTokens: 4 });
  expect(bodyTold('detect')).toBeUndefined();
});
