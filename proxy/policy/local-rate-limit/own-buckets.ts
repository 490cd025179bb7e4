import { BucketStore } from './bucket-store.ts';
import { type Buckets, BucketView } from './bucket-view.ts';

/** Full budgets that nobody else sees: for an engine that carries no traffic. */
export const ownBuckets: Buckets = {
  open: (identity, limit) => {
    const store = new BucketStore(1);
    return new BucketView(store.buffer).among(store.acquireAll([identity])).open(identity, limit);
  },
};
