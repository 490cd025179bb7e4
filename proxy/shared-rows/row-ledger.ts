interface Held {
  readonly row: number;
  users: number;
}

export interface RowLedgerOptions {
  readonly rows: number;
  /** Makes a row ready for a new owner. */
  readonly reset: (row: number) => void;
  /** Told when nobody uses the row any more. */
  readonly released?: (row: number) => void;
  /** What to throw when every row is taken. */
  readonly full: (rows: number) => Error;
}

/** Who owns which row: one row for each identity, counted by use. */
export class RowLedger {
  readonly #options: RowLedgerOptions;
  readonly #held = new Map<string, Held>();
  /** Freed rows wait at the end of the line, so that work still in flight does not write into a new owner's row. */
  readonly #free: number[] = [];
  #next = 0;

  constructor(options: RowLedgerOptions) {
    this.#options = options;
  }

  /** The row of an identity, made on first use; `release` gives it back. Throws when there is none left. */
  acquire(identity: string): number {
    const held = this.#held.get(identity);
    if (held !== undefined) {
      held.users += 1;
      return held.row;
    }
    const row = this.#take();
    this.#options.reset(row);
    this.#held.set(identity, { row, users: 1 });
    return row;
  }

  /** All or nothing: when the rows do not suffice, none is taken. */
  acquireAll(identities: Iterable<string>): Map<string, number> {
    const rows = new Map<string, number>();
    try {
      for (const identity of identities) if (!rows.has(identity)) rows.set(identity, this.acquire(identity));
    } catch (error) {
      this.releaseAll(rows.keys());
      throw error;
    }
    return rows;
  }

  release(identity: string): void {
    const held = this.#held.get(identity);
    if (held === undefined) return;
    held.users -= 1;
    if (held.users > 0) return;
    this.#held.delete(identity);
    this.#options.released?.(held.row);
    this.#free.push(held.row);
  }

  releaseAll(identities: Iterable<string>): void {
    for (const identity of identities) this.release(identity);
  }

  /** Undefined for an identity that nobody uses. */
  rowOf(identity: string): number | undefined {
    return this.#held.get(identity)?.row;
  }

  #take(): number {
    if (this.#next < this.#options.rows) {
      this.#next += 1;
      return this.#next - 1;
    }
    const row = this.#free.shift();
    if (row === undefined) throw this.#options.full(this.#options.rows);
    return row;
  }
}
