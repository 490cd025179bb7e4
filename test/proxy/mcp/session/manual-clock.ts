import type { Clock } from '../../../../proxy/exchange/wait.ts';

/** Time that passes when it is told to. */
export class ManualClock implements Clock {
  #now = 1000;
  #due: { readonly at: number; readonly work: () => void }[] = [];

  get scheduled(): number {
    return this.#due.length;
  }

  now(): number {
    return this.#now;
  }

  schedule(work: () => void, delayMs: number): () => void {
    const entry = { at: this.#now + delayMs, work };
    this.#due.push(entry);
    return () => {
      this.#due = this.#due.filter((each) => each !== entry);
    };
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#due.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#due = this.#due.filter((each) => each !== next);
      this.#now = next.at;
      next.work();
    }
    this.#now = end;
  }
}
