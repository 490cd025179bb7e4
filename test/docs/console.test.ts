import { describe, expect, test } from '@jest/globals';

import { agrees, steps } from './console.ts';

describe('console blocks', () => {
  test('are commands with what follows them, which may go on over several lines', () => {
    expect(steps('$ one\nout\n  put\n$ two \\\n> three\n')).toEqual([
      { command: 'one', expected: ['out', '  put'] },
      { command: 'two \\\nthree', expected: [] },
    ]);
  });

  test('let times, ids and sizes differ, and nothing else', () => {
    const shown = ['GET /cart  id cb34df6e-0-1  2026-11-21T11:25:48.355328Z', '  1.94ms   200', '986 B'];
    expect(agrees(shown, 'GET /cart id 0a1b2c3d-1-77 2027-01-01T00:00:00Z\n 12s 200\n1.2 KiB\n')).toBe(true);
    expect(agrees(shown, 'GET /cart id 0a1b2c3d-1-77 2027-01-01T00:00:00Z\n 12s 500\n1.2 KiB\n')).toBe(false);
    expect(agrees(shown, 'GET /cart id ? 2027-01-01T00:00:00Z\n 12s 200\n1.2 KiB\n')).toBe(false);
  });

  test('leave out what stands for itself as …, within a line and as a line', () => {
    expect(agrees(['a … d', '…', 'z'], 'a b c d\nmore\nmore\nz')).toBe(true);
    expect(agrees(['a … d', '…', 'z'], 'a b c d\nmore\ny')).toBe(false);
    expect(agrees(['a', 'z'], 'a\nb\nz')).toBe(false);
  });
});
