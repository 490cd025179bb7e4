import { CelError, type Result } from '../value/value.ts';

/** One step is a microsecond or less of work, so that no evaluation takes much longer than a tenth of a second. */
const MAX_STEPS = 100_000;

const NO_SLOTS: Result[] = [];

/** The state of one evaluation: what it is over, the values of local names, and how much work is left to it. */
export class Frame<C> {
  readonly over: C;
  readonly slots: Result[];
  /** The frame of the whole evaluation; frames of custom functions count on it too. */
  readonly root: Frame<C>;
  left: number;

  constructor(over: C, slots: number, root: Frame<C> | null = null) {
    this.over = over;
    this.slots = slots === 0 ? NO_SLOTS : emptySlots(slots);
    this.root = root ?? this;
    this.left = MAX_STEPS;
  }

  /** Takes work from the budget; false when it is used up. */
  spend(steps: number): boolean {
    return (this.root.left -= steps) >= 0;
  }
}

/** A loop: `Array.from` takes longer than most evaluations. */
function emptySlots(count: number): Result[] {
  const slots: Result[] = [];
  for (let i = 0; i < count; i++) slots.push(null);
  return slots;
}

/** Compiled code. It never throws on account of values: failures are results. */
export type Code<C> = (frame: Frame<C>) => Result;

export function exhausted(): CelError {
  return new CelError('limit', 'the evaluation takes too much work');
}
