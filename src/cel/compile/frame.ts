import { CelError, type Result } from '../value/value.ts';

/** One step is about the work of one small operation; long texts and lists cost by their length. */
export const MAX_STEPS = 200_000;

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
    this.slots = slots === 0 ? NO_SLOTS : Array.from({ length: slots }, () => null);
    this.root = root ?? this;
    this.left = MAX_STEPS;
  }

  /** Takes work from the budget; false when it is used up. */
  spend(steps: number): boolean {
    return (this.root.left -= steps) >= 0;
  }
}

/** Compiled code. It never throws on account of values: failures are results. */
export type Code<C> = (frame: Frame<C>) => Result;

export function exhausted(): CelError {
  return new CelError('limit', 'the evaluation takes too much work');
}
