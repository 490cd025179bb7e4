import type { Exchange } from '../exchange/exchange.ts';
import type { Refusal } from '../exchange/refusal.ts';
import { clientLeft, requestTimeout, settledWithin, type Clock } from '../exchange/wait.ts';
import type { TokenVerifier, Verification } from './verifier.ts';

export type Rechecked = Verification | { readonly kind: 'cut'; readonly refusal: Refusal };

/** Verifies a token again once a newer key set has been asked for, within the time that the request has. */
export async function recheck(
  exchange: Exchange,
  {
    verifier,
    token,
    refetch,
  }: { readonly verifier: TokenVerifier; readonly token: string; readonly refetch: () => Promise<void> },
  clock: Clock,
): Promise<Rechecked> {
  switch (await settledWithin(exchange, refetch(), clock)) {
    case 'deadline':
      return { kind: 'cut', refusal: requestTimeout };
    case 'clientGone':
      return { kind: 'cut', refusal: clientLeft };
    default:
      return verifier.verify(token);
  }
}
