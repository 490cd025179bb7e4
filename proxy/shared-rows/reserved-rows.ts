import type { RowLedger } from './row-ledger.ts';

/** Rows of a configuration that is being tried. */
export interface ReservedRows {
  readonly rows: ReadonlyMap<string, number>;
  /** It went live: the rows that only its predecessor used are given back. */
  keep(): void;
  giveBack(): void;
}

/** Who uses the rows of a ledger: the live configuration, and for a moment the one that is tried. */
export class RowUse {
  readonly #ledger: Pick<RowLedger, 'acquireAll' | 'releaseAll'>;
  #live: ReadonlyMap<string, number> = new Map();

  constructor(ledger: Pick<RowLedger, 'acquireAll' | 'releaseAll'>) {
    this.#ledger = ledger;
  }

  reserve(identities: Iterable<string>): ReservedRows {
    const rows = this.#ledger.acquireAll(identities);
    return {
      rows,
      keep: () => {
        this.#ledger.releaseAll(this.#live.keys());
        this.#live = rows;
      },
      giveBack: () => this.#ledger.releaseAll(rows.keys()),
    };
  }
}
