import { GwError } from '../../../src/shared/errors.ts';
import { RowLedger } from '../../shared-rows/row-ledger.ts';
import { field, ROW_WORDS, wordOf } from './bucket-rows.ts';

/** 1 MiB of address space; pages are only backed once their rows are used. */
const DEFAULT_CAPACITY = 16_384;

/**
 * The budgets of a replica, owned by the control thread. A row belongs to an identity (which limit, written how), not to a
 * configuration: a reload that keeps the definition keeps what was spent.
 */
export class BucketStore {
  /** Handed to the data threads, which see it through a `BucketView`. */
  readonly buffer: SharedArrayBuffer;
  readonly #words: BigInt64Array;
  readonly #ledger: RowLedger;

  constructor(capacity: number = DEFAULT_CAPACITY) {
    this.buffer = new SharedArrayBuffer(capacity * ROW_WORDS * BigInt64Array.BYTES_PER_ELEMENT);
    this.#words = new BigInt64Array(this.buffer);
    this.#ledger = new RowLedger({
      rows: capacity,
      reset: (row) => this.#reset(row),
      full: (rows) =>
        new GwError(`the configuration has more than ${rows} local rate limits`, {
          code: 'GW_TOO_MANY_RATE_LIMITS',
          hint: 'put limits that are the same on the gateway, or split the configuration over several gateways',
        }),
    });
  }

  /** All or nothing: when the rows do not suffice, none is taken. */
  acquireAll(identities: Iterable<string>): Map<string, number> {
    return this.#ledger.acquireAll(identities);
  }

  releaseAll(identities: Iterable<string>): void {
    this.#ledger.releaseAll(identities);
  }

  /** Full, whatever its size: a level is cut to the size when it is read. */
  #reset(row: number): void {
    Atomics.store(this.#words, wordOf(row, field.level), FULL);
    Atomics.store(this.#words, wordOf(row, field.epoch), process.hrtime.bigint() / 1000n);
  }
}

const FULL = 2n ** 62n;
