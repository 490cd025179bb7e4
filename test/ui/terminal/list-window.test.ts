import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { clampTop, keepVisible, thumb } from '../../../ui/terminal/list-window.ts';

test('the selected row is always on the screen and no space is wasted below', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -5, max: 500 }),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 400 }),
      fc.nat(),
      (top, height, count, at) => {
        const selected = at % count;
        const shown = keepVisible(top, selected, height, count);
        expect(shown).toBeGreaterThanOrEqual(0);
        expect(selected >= shown && selected < shown + height).toBe(true);
        expect(shown).toBe(clampTop(shown, height, count));
      },
    ),
  );
});

test('the thumb lies inside the bar and reaches both ends', () => {
  expect(thumb(0, 10, 10)).toBeUndefined();
  expect(thumb(0, 10, 100)).toEqual({ from: 0, to: 1 });
  expect(thumb(90, 10, 100)).toEqual({ from: 9, to: 10 });
});
