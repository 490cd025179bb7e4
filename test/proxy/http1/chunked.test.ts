import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { ChunkedDecoder } from '../../../proxy/http1/chunked.ts';
import { FieldParser } from '../../../proxy/http1/fields.ts';
import { Http1Error } from '../../../proxy/http1/limits.ts';

function decode(reads: readonly Buffer[]): { data: string; used: number; done: boolean; trailers: unknown } {
  const decoder = new ChunkedDecoder(new FieldParser({ keepSpelling: false }), 100);
  let data = '';
  let used = 0;
  for (const read of reads) {
    used += decoder.decode(read, 0);
    data += read.toString('latin1', decoder.dataStart, decoder.dataEnd);
    if (decoder.done) break;
  }
  return { data, used, done: decoder.done, trailers: decoder.trailers === null ? null : [...decoder.trailers] };
}

function cut(text: string, at: readonly number[]): Buffer[] {
  const edges = [...new Set(at.map((n) => n % text.length))].sort((a, b) => a - b);
  return [0, ...edges].map((from, i) => Buffer.from(text.slice(from, edges[i] ?? text.length), 'latin1'));
}

describe('the chunked coding', () => {
  test('puts the chunks of one read together in place', () => {
    expect(decode([Buffer.from('3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\nNEXT')])).toEqual({
      data: 'abcde',
      used: 26,
      done: true,
      trailers: null,
    });
  });

  test('reads trailers', () => {
    expect(decode([Buffer.from('1\r\nx\r\n0\r\nGrpc-Status: 0\r\nX-B: c\r\n\r\n')]).trailers).toEqual([
      ['grpc-status', '0'],
      ['x-b', 'c'],
    ]);
  });

  test('decodes the same data however it is chunked and however it is cut into reads', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' })),
        fc.array(fc.nat(500)),
        fc.boolean(),
        (chunks, cuts, trailer) => {
          const coded = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('');
          const text = `${coded}0\r\n${trailer ? 'x-t: 1\r\n' : ''}\r\n`;
          const result = decode(cut(text, cuts));
          expect(result).toMatchObject({ data: chunks.join(''), used: text.length, done: true });
          expect(result.trailers).toEqual(trailer ? [['x-t', '1']] : null);
        },
      ),
    );
  });

  test.each<[string, string]>([
    ['no size', '\r\nabc'],
    ['a size that is no number', 'xyz\r\n'],
    ['a negative size', '-1\r\n'],
    ['a size with 0x', '0x3\r\nabc\r\n'],
    ['a blank inside the size', '1 0\r\nabc\r\n'],
    ['a bare LF behind the size', '3\nabc\r\n'],
    ['data longer than the size', '2\r\nabc\r\n0\r\n\r\n'],
    ['a bare LF behind the data', '3\r\nabc\n0\r\n\r\n'],
    ['a bare LF in the extension', '3;a\nb\r\nabc'],
    ['a size beyond exact numbers', 'fffffffffffffff\r\n'],
    ['a trailer that is no field', '0\r\nnonsense\r\n\r\n'],
    ['a trailer with a bare LF', '0\r\nx-a: b\nx-c: d\r\n\r\n'],
  ])('with %s is refused', (_name, text) => {
    expect(() => decode([Buffer.from(text)])).toThrow(Http1Error);
  });

  test('with endless extensions or trailers is refused', () => {
    expect(() => decode([Buffer.from(`1;${'a'.repeat(20_000)}`)])).toThrow('chunk extensions too long');
    const trailers = Buffer.from('0\r\n' + 'x-a: b\r\n'.repeat(4000));
    expect(() => decode([trailers, Buffer.from('x-a: b\r\n'.repeat(4000))])).toThrow('trailers too long');
  });
});
