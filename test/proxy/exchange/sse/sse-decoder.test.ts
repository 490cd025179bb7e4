import { describe, expect, test } from '@jest/globals';

import { SseDecoder, SseOverflow } from '../../../../proxy/exchange/sse/sse-decoder.ts';

/** What comes out of the stream, cut into pieces of `size` bytes. */
function decoded(stream: string, size = stream.length, limit = 10_000): string[] {
  const out: string[] = [];
  const decoder = new SseDecoder(
    {
      event: (name, data) => void out.push(`${name ?? '-'}=${data}`),
      id: (id) => void out.push(`id ${id}`),
      retry: (delayMs) => void out.push(`retry ${delayMs}`),
    },
    limit,
  );
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += Math.max(1, size)) decoder.push(bytes.subarray(at, at + Math.max(1, size)));
  decoder.end();
  return out;
}

describe('an event stream', () => {
  test.each([
    ['data: a\n\n', ['-=a']],
    ['event: x\ndata: a\ndata:b\ndata\n\n', ['x=a\nb\n']],
    ['data: a\r\n\r\ndata: b\r\rdata: c\n\n', ['-=a', '-=b', '-=c']],
    [': hello\n\nevent: x\n\ndata: a\n\n', ['-=a']],
    ['\uFEFFdata: ä€😀\n\n', ['-=ä€😀']],
    ['data: a', ['-=a']],
    ['id: 1\ndata: a\n\n', ['id 1', '-=a']],
    ['id: 1\ndata:\n\n', ['id 1', '-=']],
    ['id: 7\n\n', ['id 7']],
    ['id:\n\n', ['id ']],
    ['id: a\0b\n\n', []],
    ['retry: 3000\n\n', ['retry 3000']],
    ['retry: soon\nretry: -1\nretry: 1.5\nretry: 99999999999\n\n', []],
    ['identity: 1\nretrying: 2\nother\n\n', []],
  ])('%j is %j, however it is cut', (stream, events) => {
    for (const size of [1, 2, 3, 7, 1000]) expect(decoded(stream, size)).toEqual(events);
  });

  test('with an event beyond the limit is too much', () => {
    expect(() => decoded(`data: ${'x'.repeat(200)}\n\n`, 10, 100)).toThrow(SseOverflow);
    expect(() => decoded('data: x\n'.repeat(200), 10, 100)).toThrow(SseOverflow);
    expect(decoded('data: x\n\n'.repeat(200), 10, 100)).toHaveLength(200);
  });

  test('with a long line in little pieces does not take for ever', () => {
    const long = 'x'.repeat(3_000_000);
    const [event] = decoded(`data: ${long}\n\n`, 100, 4_000_000);
    expect(event?.length).toBe(long.length + 2);
  });
});
