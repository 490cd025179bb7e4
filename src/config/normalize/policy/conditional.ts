import type { Choice } from '../../ir/policy/conditional.ts';

/** Settings that always hold. */
export function always<T>(settings: T): Choice<T> {
  return { entries: [{ settings }] };
}

/** Undefined when an entry is missing, which is a problem that was told. */
export function wholeChoice<T>(choice: Choice<T | undefined>): Choice<T> | undefined {
  const entries = choice.entries.flatMap(({ condition, settings }) =>
    settings === undefined ? [] : [{ ...(condition === undefined ? {} : { condition }), settings }],
  );
  return entries.length === choice.entries.length ? { entries } : undefined;
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
