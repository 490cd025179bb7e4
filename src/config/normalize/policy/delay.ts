import type { Delay } from '../../ir/policy/delay.ts';
import type { DelaySpec } from '../../schema/policy/delay.ts';

export function delay({ duration }: DelaySpec): Delay {
  return typeof duration === 'number'
    ? { kind: 'fixed', durationMs: duration }
    : { kind: 'expression', expression: duration };
}
