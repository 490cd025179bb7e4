import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { readProfile } from '../../src/profile/read-profile.ts';
import { renderFlame } from '../../src/profile/render-flame.ts';
import { encodeProfile } from './sample-profile.ts';

const profile = readProfile(
  encodeProfile([
    { stack: 'main;serve;parse', values: [6, 600] },
    { stack: 'main;serve', values: [1, 100] },
    { stack: 'main;log', values: [3, 300] },
  ]),
);

describe('a flame graph', () => {
  test('draws callers above what they call, as wide as their share', () => {
    expect(renderFlame(profile, { width: 40, height: 10, color: false })).toEqual([
      '[all 1µs                               ]',
      '[main 100.0%                           ]',
      '[serve 70.0%               ][log 30.0% ]',
      '[parse 60.0%           ]',
    ]);
  });

  test('has the same columns in colour', () => {
    const lines = renderFlame(profile, { width: 40, height: 10, color: true });
    expect(lines.map((line) => stripVTControlCharacters(line))[2]).toBe(' serve 70.0%                 log 30.0%  ');
    expect(lines[2]).toContain('\u001B[48;5;');
  });

  test('shows the calls of one function as the whole when asked to', () => {
    const lines = renderFlame(profile, { width: 30, height: 10, color: false, focus: 'SERVE' });
    expect(lines[0]).toBe('[calls of SERVE 700ns        ]');
    expect(lines[1]).toBe('[serve 100.0%                ]');
    expect(lines[2]).toMatch(/^\[parse 85\.7% +\]$/);
  });

  test('says so when no function has the name asked for', () => {
    expect(() => renderFlame(profile, { width: 30, height: 10, color: false, focus: 'nobody' })).toThrow(
      'no function of the profile matches "nobody"',
    );
  });

  test('says how many levels did not fit', () => {
    const lines = renderFlame(profile, { width: 30, height: 2, color: false });
    expect(lines[1]?.trimEnd()).toBe('… 3 more levels of calls');
  });

  test('says so when there are no samples', () => {
    expect(renderFlame(readProfile(encodeProfile([])), { width: 30, height: 2, color: false })[0]?.trimEnd()).toBe(
      'the profile has no samples',
    );
  });

  test('does not let a name from the file move the cursor', () => {
    const hostile = readProfile(encodeProfile([{ stack: 'a\u001B[2Jb\nc', values: [1, 1] }]));
    expect(renderFlame(hostile, { width: 60, height: 5, color: false })[1]).toContain('a\uFFFD[2Jb\uFFFDc 100.0%');
  });

  test('survives a stack of fifty thousand calls', () => {
    const deep = readProfile(
      encodeProfile([{ stack: Array.from({ length: 50_000 }, () => 'again').join(';'), values: [1, 1] }]),
    );
    expect(renderFlame(deep, { width: 60, height: 5, color: false })).toHaveLength(5);
  });

  test('is never wider or higher than asked for, whatever the names', () => {
    const name = fc.oneof(
      fc.constantFrom('処理する関数', '👩‍👩‍👧‍👦 family', 'e\u0301'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
    );
    const samples = fc.array(
      fc.tuple(fc.array(name, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 1e6 })),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(
        samples,
        fc.integer({ min: 1, max: 250 }),
        fc.integer({ min: 1, max: 20 }),
        fc.boolean(),
        (stacks, width, height, color) => {
          const specs = stacks.map(([names, value]) => ({
            stack: names.map((part) => part.replaceAll(';', ':')).join(';'),
            values: [value, value],
          }));
          const lines = renderFlame(readProfile(encodeProfile(specs)), { width, height, color });
          expect(lines.length).toBeLessThanOrEqual(height);
          for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        },
      ),
    );
  });
});
