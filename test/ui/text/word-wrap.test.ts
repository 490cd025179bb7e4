import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { WordWrap } from '../../../ui/text/word-wrap.ts';

function wrapped(columns: number, ...pieces: string[]): string {
  const wrap = new WordWrap(columns);
  return pieces.map((piece) => wrap.add(piece)).join('') + wrap.end();
}

describe('words of a text that comes in pieces', () => {
  test('break between words, however the pieces are cut', () => {
    expect(wrapped(10, 'one two th', 'ree fo', 'ur')).toBe('one two\nthree four');
    expect(wrapped(10, ...'one two three four')).toBe('one two\nthree four');
  });

  test('keep line ends, indents and gaps', () => {
    expect(wrapped(20, 'a  b\n\n  - c\n', 'd')).toBe('a  b\n\n  - c\nd');
  });

  test('a word that is longer than a line stays whole', () => {
    expect(wrapped(4, 'ab ', 'abcdefgh', ' c')).toBe('ab\nabcdefgh\nc');
  });

  test('wide characters count two', () => {
    expect(wrapped(6, '茶碗 茶碗')).toBe('茶碗\n茶碗');
  });

  test('no word is lost', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 40 }), (pieces, columns) => {
        const words = (text: string): readonly string[] => text.split(/[ \t\n]+/).filter(Boolean);
        expect(words(wrapped(columns, ...pieces))).toEqual(words(pieces.join('')));
      }),
    );
  });
});
