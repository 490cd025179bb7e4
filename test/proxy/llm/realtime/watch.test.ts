import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import { ServerFrames } from '../../../../proxy/llm/realtime/server-frames.ts';
import { queryModel, watchRealtime, withQueryModel } from '../../../../proxy/llm/realtime/watch.ts';

interface FrameOptions {
  readonly opcode?: number;
  readonly final?: boolean;
  readonly bits?: number;
  readonly masked?: boolean;
}

function frame(
  payload: string | Buffer,
  { opcode = 1, final = true, bits = 0, masked = false }: FrameOptions = {},
): Buffer {
  const bytes = Buffer.from(payload);
  const size = bytes.byteLength;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = (final ? 0x80 : 0) | bits | opcode;
  head[1] = (masked ? 0x80 : 0) | (size < 126 ? size : size < 65_536 ? 126 : 127);
  if (size >= 65_536) head.writeBigUInt64BE(BigInt(size), 2);
  else if (size >= 126) head.writeUInt16BE(size, 2);
  return Buffer.concat([head, bytes]);
}

function texts(bytes: Buffer, { limit = 1_000_000, cuts = [] as number[] } = {}): string[] {
  const seen: string[] = [];
  const frames = new ServerFrames((text) => seen.push(text), limit);
  const at = [
    0,
    ...cuts.map((cut) => cut % (bytes.byteLength + 1)).sort((left, right) => left - right),
    bytes.byteLength,
  ];
  at.forEach((from, index) => frames.push(bytes.subarray(from, at[index + 1] ?? bytes.byteLength)));
  return seen;
}

describe('frames of a server', () => {
  test.each([
    ['a text', [frame('hello')], ['hello']],
    ['an empty text', [frame(''), frame('x')], ['', 'x']],
    ['a text of 16 bits length', [frame('x'.repeat(300))], ['x'.repeat(300)]],
    ['a text of 64 bits length', [frame('x'.repeat(70_000))], ['x'.repeat(70_000)]],
    [
      'a text in pieces, with a ping between them',
      [frame('he', { final: false }), frame('!', { opcode: 9 }), frame('llo', { opcode: 0 }), frame('x')],
      ['hello', 'x'],
    ],
    ['bytes are passed over', [frame('b', { opcode: 2, final: false }), frame('b', { opcode: 0 }), frame('x')], ['x']],
    ['compressed frames end it', [frame('a'), frame('b', { bits: 0x40 }), frame('c')], ['a']],
    ['masked frames end it', [frame('a'), frame('bbbb', { masked: true }), frame('c')], ['a']],
  ])('%s', (_what, frames, expected) => expect(texts(Buffer.concat(frames))).toEqual(expected));

  test('a text that is too large ends it, in one frame or in many', () => {
    expect(texts(Buffer.concat([frame('x'.repeat(20)), frame('y')]), { limit: 10 })).toEqual([]);
    const pieces = [frame('xxxxxx', { final: false }), frame('xxxxxx', { opcode: 0 }), frame('y')];
    expect(texts(Buffer.concat(pieces), { limit: 10 })).toEqual([]);
  });

  test('are read the same however they are cut', () => {
    const message = fc.record({ text: fc.string({ maxLength: 400 }), pieces: fc.integer({ min: 1, max: 4 }) });
    fc.assert(
      fc.property(fc.array(message, { maxLength: 6 }), fc.array(fc.nat(3000), { maxLength: 12 }), (messages, cuts) => {
        const bytes = messages.flatMap(({ text, pieces }) => {
          const payload = Buffer.from(text);
          const size = Math.ceil(payload.byteLength / pieces) || 1;
          return Array.from({ length: pieces }, (_, index) =>
            frame(payload.subarray(index * size, (index + 1) * size), {
              opcode: index === 0 ? 1 : 0,
              final: index === pieces - 1,
            }),
          );
        });
        expect(texts(Buffer.concat(bytes), { cuts })).toEqual(messages.map(({ text }) => Buffer.from(text).toString()));
      }),
    );
  });

  test('that nobody understands break nothing', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void texts(Buffer.from(bytes))));
  });
});

describe('a realtime session', () => {
  const done = (input: number, output: number): string =>
    JSON.stringify({
      type: 'response.done',
      response: {
        usage: {
          input_tokens: input,
          output_tokens: output,
          total_tokens: input + output,
          input_token_details: { cached_tokens: 1, audio_tokens: 2 },
        },
      },
    });

  test('costs what all of its answers cost', () => {
    const facts = new LlmFacts();
    const watch = watchRealtime(facts, 10_000);
    watch(frame(JSON.stringify({ type: 'session.created', session: { model: 'gpt-realtime-x' } })));
    watch(frame(JSON.stringify({ type: 'response.output_text.delta', delta: 'not response.done' })));
    expect(facts.usage).toBeNull();
    watch(frame(done(10, 5)));
    watch(Buffer.concat([frame(done(20, 7)), frame('response.done is no JSON')]));
    expect(facts).toMatchObject({
      responseModel: 'gpt-realtime-x',
      usage: { inputTokens: 30, outputTokens: 12, totalTokens: 42, cachedInputTokens: 2, inputAudioTokens: 4 },
    });
  });

  test.each([
    ['/v1/realtime?model=gpt-realtime', 'gpt-realtime'],
    ['/v1/realtime?x=1&model=a%2Fb', 'a/b'],
    ['/v1/realtime', ''],
    ['/v1/realtime?model', ''],
  ])('%s names the model %j', (target, model) => expect(queryModel(target)).toBe(model));

  test.each([
    ['/v1/realtime', '/v1/realtime?model=m%20x'],
    ['/v1/realtime?model=a&x=1&model=b', '/v1/realtime?model=m%20x&x=1'],
  ])('%s gets another model', (target, expected) => expect(withQueryModel(target, 'm x')).toBe(expected));
});
