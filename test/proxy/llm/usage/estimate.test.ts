import { describe, expect, test } from '@jest/globals';

import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import { wireFormat } from '../../../../proxy/llm/formats/registry.ts';
import { textBytes } from '../../../../proxy/llm/tokens/bytes.ts';
import { estimateUsage } from '../../../../proxy/llm/usage/estimate.ts';
import { overwrite } from '../../../../proxy/llm/usage/told.ts';

function streamed(untoldBytes: number | null): LlmFacts {
  const facts = new LlmFacts();
  facts.untoldBytes = untoldBytes;
  return facts;
}

describe('the usage of a streamed chat', () => {
  test('is estimated from texts where the service told none', () => {
    const facts = streamed(9);
    estimateUsage(facts, () => 40);
    expect(facts).toMatchObject({ estimated: true, inputTokens: 10, totalTokens: 13 });
  });

  test('has the input that was counted here before any estimate', () => {
    const facts = streamed(0);
    facts.countedTokens = 7;
    estimateUsage(facts, () => 4000);
    expect(facts).toMatchObject({ estimated: true, inputTokens: 7, totalTokens: 7 });
  });

  test('goes on from what the service told at the beginning', () => {
    const facts = streamed(0);
    overwrite(facts, { usage: { inputTokens: 90, cachedInputTokens: 10, outputTokens: 1 } });
    facts.excludesCache = true;
    facts.untoldBytes = 8;
    estimateUsage(facts, () => 1e6);
    expect(facts).toMatchObject({ estimated: true, inputTokens: 100, totalTokens: 103 });
  });

  test('is left alone where the service told it last, and where nobody follows the stream', () => {
    const told = streamed(500);
    overwrite(told, { usage: { inputTokens: 3, outputTokens: 2 } });
    const unfollowed = streamed(null);
    for (const facts of [told, unfollowed]) estimateUsage(facts, () => 1e6);
    expect(told).toMatchObject({ estimated: false, totalTokens: 5 });
    expect(unfollowed).toMatchObject({ estimated: false, usage: null });
  });
});

describe('what an event says', () => {
  const cases = [
    ['completions', { choices: [{ delta: { content: 'ab"c\\' } }] }, 7],
    ['completions', { choices: [{ delta: { content: '☔' }, finish_reason: null }], usage: null }, 3],
    ['completions', { choices: [{ delta: { tool_calls: [{ function: { arguments: '{"a"' } }] } }] }, 6],
    ['completions', { choices: [{ delta: { reasoning_content: 'hm', content: 'ab' } }] }, 4],
    ['completions', { choices: [{ delta: { content: null }, finish_reason: 'stop' }] }, 0],
    ['messages', { type: 'content_block_delta', delta: { type: 'text_delta', text: 'abc' } }, 3],
    ['messages', { type: 'content_block_delta', delta: { type: 'thinking_delta', thinking: 'abc' } }, 3],
    ['responses', { type: 'response.output_text.delta', delta: 'abc' }, 3],
    ['responses', { type: 'response.output_text.done', text: 'abc' }, 0],
    ['generateContent', { candidates: [{ content: { parts: [{ text: 'abc' }, { text: 'de' }] } }] }, 5],
    ['converse', { delta: { text: 'abc' } }, 3],
  ] as const;

  test.each(cases)('of %s, %j, has %i bytes', (format, event, bytes) => {
    expect(wireFormat(format).said(JSON.stringify(event))).toBe(bytes);
  });

  test('is measured with spaces, and when it is cut', () => {
    expect(wireFormat('completions').said('{"content": "abc"}')).toBe(3);
    expect(wireFormat('completions').said('{"content":"abc')).toBe(3);
  });
});

describe('the texts of a request', () => {
  const of = (body: object) => textBytes(Buffer.from(JSON.stringify(body)), 'messages');

  test('are measured without pictures', () => {
    const picture = { type: 'image', source: { type: 'base64', data: 'x'.repeat(100_000) } };
    const content = [{ type: 'text', text: 'what?' }, picture];
    expect(of({ system: 'be kind', messages: [{ role: 'user', content }] })).toBe(12);
  });

  test('that are nested without end are as long as the request', () => {
    const depth = 200_000;
    const body = `{"messages":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(textBytes(Buffer.from(body), 'completions')).toBeGreaterThanOrEqual(0);
  });
});
