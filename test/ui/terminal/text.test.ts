import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { seg, toAnsi } from '../../../ui/terminal/row.ts';
import { clean, clipEnd, clipMiddle, fit, fitRight, slice, width, wrapHard } from '../../../ui/terminal/text.ts';
import { colourTheme } from '../../../ui/theme.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('茶碗', 'a茶b', '👩‍👩‍👧‍👦 family', 'e\u0301te\u0301', '\u001b[31mred', 'x\ny\tz'),
);

describe('text', () => {
  test('counts CJK and emoji as two columns', () => {
    expect(width('茶碗')).toBe(4);
    expect(width('☕')).toBe(2);
    expect(width('━━▸✓µs…')).toBe(7);
  });

  test('shows control characters instead of sending them to the terminal', () => {
    expect(clean('a\u001b[2Jb\n\u0007\u202e')).toBe('a␛[2Jb␊␇�');
    expect(clean('\ud800')).toBe('�');
  });

  test('cuts a path in its middle', () => {
    expect(clipMiddle('/a/very/long/path/to/thing', 11)).toBe('/a/ve…thing');
    expect(clipMiddle('茶碗茶碗茶碗', 7)).toBe('茶…碗');
  });

  test('never exceeds the columns it is given, and fills them exactly when asked to', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, columns) => {
        expect(width(clipEnd(text, columns))).toBeLessThanOrEqual(columns);
        expect(width(clipMiddle(text, columns))).toBeLessThanOrEqual(columns);
        expect(width(fit(text, columns))).toBe(columns);
        expect(width(fitRight(text, columns))).toBe(columns);
      }),
    );
  });

  test('slices by columns and blanks half of a wide character', () => {
    expect(slice('a茶b', 2, 2)).toBe(' b');
    expect(slice('a茶b', 0, 2)).toBe('a ');
    expect(slice('abcdef', 2, 3)).toBe('cde');
  });

  test('wraps into rows that fit and lose nothing', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 2, max: 30 }), (text, columns) => {
        const rows = wrapHard(text, columns);
        expect(rows.join('')).toBe(clean(text));
        expect(rows.every((row) => width(row) <= columns)).toBe(true);
      }),
    );
  });

  test('lets no escape sequence of the text through', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const shown = toAnsi({ segments: [seg(text, 'error')] }, colourTheme);
        // oxlint-disable-next-line no-control-regex -- the sequences that the theme itself makes
        expect(/\p{Control}/u.test(shown.replaceAll(/\u001b\[\d+m/g, ''))).toBe(false);
      }),
    );
  });
});
