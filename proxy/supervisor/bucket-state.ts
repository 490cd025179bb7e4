import type { GatewayConfig } from '../../src/config/ir/index.ts';
import { bucketIdentities } from '../policy/local-rate-limit/bucket-identity.ts';
import { BucketStore } from '../policy/local-rate-limit/bucket-store.ts';
import { type ReservedRows, RowUse } from '../shared-rows/reserved-rows.ts';

/** The budgets of the replica and who uses them: the live configuration, and for a moment the one that is tried. */
export class BucketRows {
  readonly #store = new BucketStore();
  readonly #use = new RowUse(this.#store);

  get buffer(): SharedArrayBuffer {
    return this.#store.buffer;
  }

  reserve(config: GatewayConfig): ReservedRows {
    return this.#use.reserve(bucketIdentities(config));
  }

  /** The budgets as they are now, to be looked at without spending them. */
  copy(config: GatewayConfig): { memory: SharedArrayBuffer; rows: ReadonlyMap<string, number> } {
    const reserved = this.reserve(config);
    reserved.giveBack();
    return { memory: this.buffer.slice(0), rows: reserved.rows };
  }
}
