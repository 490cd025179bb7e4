import type { Exchange } from '../../exchange/exchange.ts';
import { Patience } from '../../exchange/patience.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { Clock } from '../../exchange/wait.ts';

/** What came of waiting. */
export type Awaited<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The client left, or its deadline passed; what was waited for goes on for others. */
  | { readonly kind: 'gaveUp'; readonly refusal: Refusal };

/** Waits as long as the exchange does. */
export async function waitFor<T>(exchange: Exchange, clock: Clock, promise: Promise<T>): Promise<Awaited<T>> {
  const patience = new Patience(exchange, clock);
  const gaveUp = Promise.withResolvers<null>();
  const onAbort = (): void => gaveUp.resolve(null);
  patience.signal.addEventListener('abort', onAbort, { once: true });
  if (patience.signal.aborted) onAbort();
  try {
    const value = await Promise.race([promise.then((result) => ({ result })), gaveUp.promise]);
    if (value !== null) return { kind: 'value', value: value.result };
    promise.catch(() => {});
    if (patience.refusal !== null) return { kind: 'gaveUp', refusal: patience.refusal };
    return { kind: 'value', value: await promise };
  } finally {
    patience.signal.removeEventListener('abort', onAbort);
    patience.release();
  }
}
