import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';

/** Writes a credential into the request; a refusal when that is not possible. A promise only when it has to be fetched. */
export type Apply = (exchange: Exchange) => Refusal | null | Promise<Refusal | null>;

/** What one kind of credential is made of. */
export interface CredentialKind {
  /** For traces: what is written where; never the credential. */
  readonly details: string;
  readonly apply: Apply;
}
