import type { Clock } from '../../../exchange/wait.ts';
import type { Era } from '../../message/versions.ts';

/** Servers learn new versions: after this long, what was refused is tried again. */
const REFUSED_FOR_MS = 10 * 60_000;

/** Which generations of the protocol one target speaks, as far as its conversations have found out. */
export class Knowledge {
  readonly #clock: Clock;
  readonly #spoken = new Set<Era>();
  readonly #refusedAt = new Map<Era, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined where nobody knows. */
  speaks(era: Era): boolean | undefined {
    if (this.#spoken.has(era)) return true;
    const at = this.#refusedAt.get(era);
    return at !== undefined && this.#clock.now() - at < REFUSED_FOR_MS ? false : undefined;
  }

  /** It may not be so any more. */
  doubt(era: Era): void {
    this.#spoken.delete(era);
  }

  learn(era: Era, spoken: boolean): void {
    if (spoken) {
      this.#spoken.add(era);
      this.#refusedAt.delete(era);
      return;
    }
    this.#spoken.delete(era);
    this.#refusedAt.set(era, this.#clock.now());
  }
}
