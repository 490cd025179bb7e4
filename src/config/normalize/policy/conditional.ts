import type { Choice } from '../../ir/policy/conditional.ts';

/** Settings that always hold. */
export function always<T>(settings: T): Choice<T> {
  return { entries: [{ settings }] };
}

/** The same choice between normalized settings; `index` tells the entries apart, for keys of what they hold. */
export function mapChoice<T, U>(choice: Choice<T>, map: (settings: T, index: number) => U): Choice<U> {
  return {
    entries: choice.entries.map(({ condition, settings }, index) => ({
      ...(condition === undefined ? {} : { condition }),
      settings: map(settings, index),
    })),
  };
}
