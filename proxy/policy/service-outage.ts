import { messageOf } from '../../src/shared/errors.ts';
import type { Log } from '../../src/shared/log.ts';
import type { Clock } from '../exchange/wait.ts';

const AGAIN_MS = 10_000;

/** Tells the log when a policy service fails, again while it goes on failing, and when it is back: never per request. */
export class ServiceOutage {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #facts: Readonly<Record<string, string>>;
  #toldAt: number | null = null;

  /** `facts` name the service and the resource that calls it. */
  constructor(log: Log, clock: Clock, facts: Readonly<Record<string, string>>) {
    this.#log = log;
    this.#clock = clock;
    this.#facts = facts;
  }

  failed(error: unknown): void {
    const now = this.#clock.now();
    if (this.#toldAt !== null && now - this.#toldAt < AGAIN_MS) return;
    this.#toldAt = now;
    this.#log.warn('the service cannot be asked', { ...this.#facts, error: messageOf(error) });
  }

  answered(): void {
    if (this.#toldAt === null) return;
    this.#toldAt = null;
    this.#log.info('the service answers again', this.#facts);
  }
}
