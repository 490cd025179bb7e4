/** Runs one piece of work at a time. Reloads asked for while one waits are the same reload. */
export class ReloadQueue {
  #tail: Promise<void> = Promise.resolve();
  #waiting: Promise<unknown> | null = null;

  /** Runs `work` after everything before it. */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#tail.then(work);
    this.#tail = settled(run);
    return run;
  }

  /** Like `exclusively`, but joins a call that has not begun yet. */
  coalesced<T>(work: () => Promise<T>): Promise<T> {
    // `as`: callers of one queue pass the same work.
    if (this.#waiting !== null) return this.#waiting as Promise<T>;
    const run = this.exclusively(() => {
      this.#waiting = null;
      return work();
    });
    this.#waiting = run;
    return run;
  }
}

/** Whoever asked for the work hears of its failure; the queue goes on. */
async function settled(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}
