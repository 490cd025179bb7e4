import { z } from 'zod';
import { parseDurationMs } from '../../../shared/duration.ts';
import { object } from '../build.ts';
import { notBuiltWhen } from '../marks.ts';

/** Anything but an attempt at a duration: a sign, a number, a unit. */
const isExpression = (value: unknown) =>
  typeof value === 'string' &&
  value !== '' &&
  parseDurationMs(value) === undefined &&
  !/^[-+]?[\d.]+\s*\p{L}*$/u.test(value);

const durationOrExpression = z
  .string({ error: () => 'expected a duration with a unit, such as 250ms' })
  .min(1)
  .max(16384)
  .refine((text) => parseDurationMs(text) !== undefined, { error: 'expected a duration with a unit, such as 250ms' })
  .transform((text) => parseDurationMs(text) ?? Number.NaN);

/** `delay`: waits before the request goes on (fault injection). */
export const delay = object(
  'Waits before the request goes on; the wait counts against the request timeout.',
  {
    duration: notBuiltWhen(
      durationOrExpression.describe('A duration such as 250ms, or an expression (a number is milliseconds).'),
      isExpression,
      'a delay given by an expression',
    ),
  },
  'Delay',
);
