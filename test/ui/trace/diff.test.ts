import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { diffLines } from '../../../ui/trace/diff.ts';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

describe('diff', () => {
  test('finds the shortest edit', () => {
    const text = diffLines([...'abcabba'], [...'cbabac']).map(({ mark, text: line }) => mark + line);
    expect(text.filter((line) => !line.startsWith(' '))).toHaveLength(5);
  });

  test('gives back both texts from its marks', () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const diff = diffLines(before, after);
        expect(diff.filter(({ mark }) => mark !== '+').map(({ text }) => text)).toEqual(before);
        expect(diff.filter(({ mark }) => mark !== '-').map(({ text }) => text)).toEqual(after);
      }),
    );
  });

  test('shows two long texts without anything in common as removed and added', () => {
    const before = Array.from({ length: 3000 }, (_, at) => `old ${at}`);
    const after = Array.from({ length: 3000 }, (_, at) => `new ${at}`);
    const diff = diffLines(before, after);
    expect(diff).toHaveLength(6000);
    expect(diff[0]).toEqual({ mark: '-', text: 'old 0' });
  });
});
