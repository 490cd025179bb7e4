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

/** Reserves from several ledgers, or from none when one of them is full. */
export function reserveAll<K extends string>(
  reserve: Readonly<Record<K, () => ReservedRows>>,
): Omit<ReservedRows, 'rows'> & { readonly rows: Readonly<Record<K, ReadonlyMap<string, number>>> } {
  const reserved: [K, ReservedRows][] = [];
  const giveBack = (): void => {
    for (const [, rows] of reserved) rows.giveBack();
  };
  try {
    // `as`: keys of a record are typed as strings.
    for (const name of Object.keys(reserve) as K[]) reserved.push([name, reserve[name]()]);
  } catch (error) {
    giveBack();
    throw error;
  }
  return {
    rows: Object.fromEntries(reserved.map(([name, { rows }]) => [name, rows])) as Record<
      K,
      ReadonlyMap<string, number>
    >,
    keep: () => {
      for (const [, rows] of reserved) rows.keep();
    },
    giveBack,
  };
}
