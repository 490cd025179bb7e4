import type { Discovery } from '../../src/config/documents/discovery.ts';
import type { PublicJwk, RemoteDiscovery, RemoteKeySet, RemoteOpenApi } from '../../src/config/ir/index.ts';
import type { JsonObject } from '../../src/shared/json.ts';

/** A fetched document as it is now. */
export interface Live<T> {
  /** Null while there is none, which is only so where nothing is ever fetched. */
  readonly current: T | null;
  /** Tells contents apart; 0 for none. */
  readonly version: number;
  /**
   * Asks for a fetch now and resolves when `current` is as new as it can be had; never rejects. Resolves at once when the
   * last one is too recent.
   */
  refetch(): Promise<void>;
}

/** One whose readers want to know at once. */
export interface Watched<T> extends Live<T> {
  /** Calls after each change. What is returned takes it back. */
  watch(changed: () => void): () => void;
}

/** What the control thread has fetched, as policies of one data thread see it. */
export interface Resources {
  /** Grows with every change of any document: one comparison tells that nothing has changed. */
  readonly generation: number;
  keySet(document: RemoteKeySet): Live<readonly PublicJwk[]>;
  discovery(document: RemoteDiscovery): Live<Discovery>;
  /** Of version 3; tools could be made of it when it was fetched. */
  openApi(document: RemoteOpenApi): Watched<JsonObject>;
}
