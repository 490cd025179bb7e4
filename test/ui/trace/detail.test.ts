import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeBody } from '../../../ui/trace/body.ts';
import { highlightLine, blockLines } from '../../../ui/trace/syntax.ts';

const base64 = (bytes: string | Uint8Array): string => Buffer.from(bytes).toString('base64');

describe('bodies', () => {
  test('JSON is a value, text is text, the rest is hex', () => {
    expect(decodeBody(base64('{"a":[1]}'))).toEqual({ a: [1] });
    expect(decodeBody(base64('{"a":'))).toBe('{"a":');
    expect(decodeBody(base64(new Uint8Array([0, 255, 65])))).toBe(
      '3 bytes, not text\n0000  00 ff 41                                         ..A',
    );
  });

  test('a gzip body is opened as far as it was recorded', () => {
    const whole = gzipSync('hello '.repeat(2000));
    expect(decodeBody(whole.toString('base64'))).toContain('hello hello');
    expect(decodeBody(whole.subarray(0, 30).toString('base64'))).toEqual(expect.any(String));
  });

  test('a body that was cut inside a character is still text', () => {
    expect(decodeBody(base64(Buffer.from('茶碗').subarray(0, 4)))).toBe('茶');
  });

  test('a huge body is cut with a note', () => {
    expect(decodeBody(base64('x'.repeat(100_000)))).toMatch(/… 34464 more characters$/);
  });
});

describe('highlighting', () => {
  test.each([
    ['  path: /cart', 'key'],
    ['- 12', 'number'],
    ['flag: true', 'number'],
    ['gone: null', 'null'],
  ])('finds what %s is made of', (line, style) => {
    expect(highlightLine(line, 'yaml', false).map((part) => part.style)).toContain(style);
  });

  test('never changes a line', () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom('yaml' as const, 'json' as const),
        fc.boolean(),
        (line, format, inBlock) => {
          expect(
            highlightLine(line, format, inBlock)
              .map((part) => part.text)
              .join(''),
          ).toBe(line);
        },
      ),
    );
  });

  test('knows the lines of a block scalar', () => {
    expect(blockLines(['body: |', '  a: b', '', '  c', 'next: 1'])).toEqual([false, true, true, true, false]);
  });
});
