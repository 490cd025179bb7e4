import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';
import { EventStreamCodec } from '@smithy/eventstream-codec';

import { BufferedBody } from '../../../../proxy/exchange/body.ts';
import { collect } from '../../../../proxy/exchange/collect.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import type { HttpResponse } from '../../../../proxy/exchange/message.ts';
import { PushBody } from '../../../../proxy/exchange/push-body.ts';
import { systemClock } from '../../../../proxy/exchange/wait.ts';
import { detectedTold } from '../../../../proxy/llm/detect/told.ts';
import { detectedRequest, watchAnswer } from '../../../../proxy/llm/detect/watch.ts';

const limitBytes = 10_000;
const idle = { clock: systemClock, streamIdleTimeoutMs: 60_000 };

async function watched(
  headers: Record<string, string>,
  body: Uint8Array | string,
  status = 200,
): Promise<{ facts: LlmFacts; bytes: Buffer }> {
  const facts = new LlmFacts();
  const response: HttpResponse = {
    status,
    headers: Headers.from(Object.entries(headers)),
    body: new BufferedBody(typeof body === 'string' ? Buffer.from(body) : body),
  };
  watchAnswer(response, { facts, startedAt: 0, limitBytes, ...idle });
  const collected = await collect(response.body, 1_000_000);
  return { facts, bytes: Buffer.from(collected.kind === 'whole' ? collected.body.bytes : []) };
}

describe('what an answer tells', () => {
  test.each([
    [{ usage: { input_tokens: 1, output_tokens: 2 } }, { inputTokens: 1, outputTokens: 2 }],
    [{ response: { usage: { input_tokens: 1, total_tokens: 3 } } }, { inputTokens: 1, totalTokens: 3 }],
    [{ usage: { prompt_tokens: 1, completion_tokens: 2 } }, { inputTokens: 1, outputTokens: 2 }],
    [
      { usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
      { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
    ],
    [
      { metadata: { usage: { inputTokens: 1, cacheReadInputTokenCount: 4 } } },
      { inputTokens: 1, cachedInputTokens: 4 },
    ],
    [{ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2 } }, { inputTokens: 1, outputTokens: 2 }],
    [{ response: { usageMetadata: { promptTokenCount: 1 } } }, { inputTokens: 1 }],
    [{ message: { usage: { input_tokens: 7 } } }, { inputTokens: 7 }],
    [
      { usage: { cache_read_input_tokens: 5, cache_creation_input_tokens: 6 } },
      { cachedInputTokens: 5, cacheCreationInputTokens: 6 },
    ],
    [
      { usage: { input_tokens_details: { cached_tokens: 5, text_tokens: 1, image_tokens: 2, audio_tokens: 3 } } },
      { cachedInputTokens: 5, inputTextTokens: 1, inputImageTokens: 2, inputAudioTokens: 3 },
    ],
    [
      { usage: { completion_tokens_details: { reasoning_tokens: 9 }, service_tier: 'flex' } },
      { reasoningTokens: 9, serviceTier: 'flex' },
    ],
  ])('%j', (body, usage) => {
    const told = Object.entries(detectedTold(body).usage ?? {}).filter(([, value]) => value !== undefined);
    expect(Object.fromEntries(told)).toEqual(usage);
  });

  test.each([
    [{ model: 'a' }, 'a'],
    [{ message: { model: 'a' } }, 'a'],
    [{ response: { model: 'a' } }, 'a'],
    [{ modelVersion: 'a' }, 'a'],
    [{ model: 5, usage: 'x' }, undefined],
  ])('%j names the model %s', (body, model) => expect(detectedTold(body).model).toBe(model));
});

describe('an answer that passes', () => {
  const json = JSON.stringify({ model: 'm', usage: { input_tokens: 3, output_tokens: 4 } });

  test.each([
    ['JSON', { 'content-type': 'application/json' }, json],
    ['JSON with a charset', { 'content-type': 'application/json; charset=utf-8' }, json],
    ['compressed JSON', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, gzipSync(json)],
    ['events', { 'content-type': 'text/event-stream' }, `data: {"x":1}\n\ndata: ${json}\n\ndata: [DONE]\n\n`],
  ])('of %s leaves as it came, and is counted', async (_what, headers, body) => {
    const { facts, bytes } = await watched(headers, body);
    expect(bytes).toEqual(Buffer.from(body));
    expect(facts).toMatchObject({ responseModel: 'm', usage: { inputTokens: 3, outputTokens: 4 } });
  });

  test.each([
    ['an error', { 'content-type': 'application/json' }, json, 500],
    ['another type', { 'content-type': 'text/plain' }, json, 200],
    ['a coding that is not known', { 'content-type': 'application/json', 'content-encoding': 'lzma' }, json, 200],
    ['no JSON', { 'content-type': 'application/json' }, '<html>', 200],
    ['broken gzip', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 'no gzip', 200],
    ['too much', { 'content-type': 'application/json' }, json.padEnd(20_000), 200],
    ['an event that is too large', { 'content-type': 'text/event-stream' }, `data: ${'x'.repeat(20_000)}\n\n`, 200],
    ['broken frames', { 'content-type': 'application/vnd.amazon.eventstream' }, 'no frame at all', 200],
  ])('of %s leaves as it came, and tells nothing', async (_what, headers, body, status) => {
    const { facts, bytes } = await watched(headers, body, status);
    expect(bytes).toEqual(Buffer.from(body));
    expect(facts.usage).toBeNull();
  });

  test('in frames of AWS is counted, wrapped or not', async () => {
    const codec = new EventStreamCodec(
      (bytes) => Buffer.from(bytes).toString(),
      (string) => Buffer.from(string),
    );
    const frame = (type: string, payload: unknown): Uint8Array =>
      codec.encode({
        headers: {
          ':event-type': { type: 'string', value: type },
          ':message-type': { type: 'string', value: 'event' },
        },
        body: Buffer.from(JSON.stringify(payload)),
      });
    const start = { type: 'message_start', message: { model: 'claude', usage: { input_tokens: 3, output_tokens: 1 } } };
    const wrapped = Buffer.from(JSON.stringify(start)).toString('base64');
    const body = Buffer.concat([frame('chunk', { bytes: wrapped }), frame('metadata', { usage: { outputTokens: 9 } })]);
    const { facts } = await watched({ 'content-type': 'application/vnd.amazon.eventstream' }, body);
    expect(facts).toMatchObject({ responseModel: 'claude', usage: { inputTokens: 3, outputTokens: 9 } });
  });

  test('of Bedrock is counted by its headers where its body tells nothing', async () => {
    const headers = { 'x-amzn-bedrock-input-token-count': '5', 'x-amzn-bedrock-output-token-count': '6' };
    const { facts } = await watched({ ...headers, 'content-type': 'application/octet-stream' }, 'x');
    expect(facts.usage).toEqual({ inputTokens: 5, outputTokens: 6 });
  });

  test('event by event does not wait for the next, and tells when the first text came', () => {
    const facts = new LlmFacts();
    const source = new PushBody();
    const response = { status: 200, headers: Headers.from([['content-type', 'text/event-stream']]), body: source };
    watchAnswer(response, { facts, startedAt: 0, limitBytes, ...idle });
    const seen: string[] = [];
    response.body.pipe({ onData: (chunk) => seen.push(Buffer.from(chunk).toString()), onEnd() {}, onError() {} });
    source.push(Buffer.from('data: {"choices":[{"delta":{"content":"hi"}}]}\n'));
    expect(seen).toHaveLength(1);
    expect(facts.timeToFirstTokenMs).toBeNull();
    source.push(Buffer.from('\n'));
    expect(facts.timeToFirstTokenMs).toBeGreaterThan(0);
  });

  test('is given up with its client', () => {
    const source = new PushBody();
    let cancelled = false;
    source.onCancel = () => (cancelled = true);
    const response = { status: 200, headers: Headers.from([['content-type', 'text/event-stream']]), body: source };
    watchAnswer(response, { facts: new LlmFacts(), startedAt: 0, limitBytes, ...idle });
    response.body.cancel();
    expect(cancelled).toBe(true);
  });
});

describe('a request that passes', () => {
  test.each([
    ['application/json', '{"model":"m"}', { model: 'm' }],
    ['application/json; charset=utf-8', '{"model":"m"}', { model: 'm' }],
    ['application/json', '[1]', null],
    ['application/json', '{', null],
    ['multipart/form-data; boundary=x', '{"model":"m"}', null],
    [undefined, '{"model":"m"}', null],
  ])('%s, %s', (type, body, fields) => expect(detectedRequest(type, Buffer.from(body))).toEqual(fields));
});
