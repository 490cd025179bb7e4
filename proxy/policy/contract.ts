import type { Exchange } from '../exchange/exchange.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';

/** What a request policy decided. Expected refusals are outcomes, not exceptions. */
export type Outcome =
  | { readonly kind: 'next' }
  /** The gateway answers itself (redirect, direct response): not an error. */
  | { readonly kind: 'respond'; readonly response: HttpResponse; readonly policy: string }
  | { readonly kind: 'fail'; readonly refusal: Refusal };

/** Shared, so that the common case allocates nothing. */
export const next: Outcome = { kind: 'next' };

/** Runs on the request; a promise only when the policy really waits. */
export type RequestStep = (exchange: Exchange) => Outcome | Promise<Outcome>;

/** Runs on every response, the gateway's own included. */
export type ResponseStep = (exchange: Exchange, response: HttpResponse) => void | Promise<void>;
