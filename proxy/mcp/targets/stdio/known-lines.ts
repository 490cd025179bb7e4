import type { Clock } from '../../../exchange/wait.ts';

/** So many lines are what a program says of itself as it starts. */
const FIRST_LINES = 20;
const MAX_KNOWN = 100;
const MAX_AGE_MS = 10 * 60_000;
const TROUBLE = /error|fail|fatal|panic|exception|traceback|warn|denied|cannot|can't|could not/i;

/** What the programs of one target have said as they started: the next one says the same. */
export class KnownLines {
  readonly #clock: Clock;
  /** When each was told last. */
  readonly #told = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether the line, the `nth` of its program (from 0), has been told lately, and need not be told again. Never of what reads
   * like trouble.
   */
  repeats(line: string, nth: number): boolean {
    if (nth >= FIRST_LINES || TROUBLE.test(line)) return false;
    const now = this.#clock.now();
    const told = this.#told.get(line);
    if (told !== undefined && now - told < MAX_AGE_MS) return true;
    this.#told.delete(line);
    this.#told.set(line, now);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_KNOWN && oldest !== undefined) this.#told.delete(oldest);
    return false;
  }
}
