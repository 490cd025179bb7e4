import { z } from 'zod';
import { object } from '../build.ts';
import { cel, duration } from '../scalars.ts';

/** `delay`: waits before the request goes on (fault injection). */
export const delay = object(
  'Waits before the request goes on; the wait counts against the request timeout.',
  {
    duration: z
      .union([duration, cel], { error: () => 'expected a duration with a unit, such as 250ms, or an expression' })
      .describe('A duration such as 250ms, or an expression (a number is milliseconds).'),
  },
  'Delay',
);

export type DelaySpec = z.output<typeof delay>;
