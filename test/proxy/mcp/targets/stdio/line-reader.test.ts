import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { LineReader } from '../../../../../proxy/mcp/targets/stdio/line-reader.ts';

function read(chunks: readonly Buffer[], maxBytes = 1000): { readonly lines: string[]; readonly whole: boolean } {
  const lines: string[] = [];
  const reader = new LineReader(maxBytes, (line) => lines.push(line.toString()));
  const whole = chunks.every((chunk) => reader.take(chunk));
  reader.end();
  return { lines, whole };
}

describe('a stream is cut into lines', () => {
  test('however it comes in pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[^\r\n]{1,20}$/)), fc.nat(7), (lines, size) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const chunks: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size + 1) chunks.push(bytes.subarray(at, at + size + 1));
        expect(read(chunks)).toEqual({ lines, whole: true });
      }),
    );
  });

  test('with either line end, without empty lines, and with a last line that has no end', () => {
    expect(read([Buffer.from('a\r\n\n\r\nb\nc')]).lines).toEqual(['a', 'b', 'c']);
  });

  test('that are not longer than they may be', () => {
    expect(read([Buffer.from(`${'x'.repeat(10)}\ny`)], 10)).toEqual({ lines: ['x'.repeat(10), 'y'], whole: true });
    expect(read([Buffer.from('x'.repeat(6)), Buffer.from('x'.repeat(5))], 10).whole).toBe(false);
    expect(read([Buffer.from(`ok\n${'x'.repeat(11)}\n`)], 10)).toMatchObject({ lines: ['ok'], whole: false });
  });
});
