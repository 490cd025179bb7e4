/** A number in [0, 1). */
export type Random = () => number;

/** A weighted random draw whose sums were made while compiling. */
export class WeightedPick<T> {
  readonly #items: T[] = [];
  readonly #upTo: number[] = [];
  readonly #total: number;

  constructor(items: readonly T[], weightOf: (item: T) => number) {
    let total = 0;
    for (const item of items) {
      const weight = weightOf(item);
      if (!(weight > 0)) continue;
      total += weight;
      this.#items.push(item);
      this.#upTo.push(total);
    }
    this.#total = total;
  }

  /** Undefined when nothing has a weight. A single candidate costs no draw. */
  choose(random: Random): T | undefined {
    if (this.#items.length <= 1) return this.#items[0];
    const drawn = random() * this.#total;
    let low = 0;
    let high = this.#upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (drawn < (this.#upTo[middle] ?? 0)) high = middle;
      else low = middle + 1;
    }
    return this.#items[low];
  }
}
