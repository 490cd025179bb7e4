import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { Clock } from '../../exchange/wait.ts';
import { waitFor } from './waiting.ts';

/** Writes a token that is there, or that is on its way: then it is waited for as long as the exchange waits. */
export function writeToken(
  token: string | Promise<string>,
  exchange: Exchange,
  { clock, write }: { readonly clock: Clock; readonly write: (exchange: Exchange, token: string) => Refusal | null },
): Refusal | null | Promise<Refusal | null> {
  if (typeof token === 'string') return write(exchange, token);
  return waitFor(exchange, clock, token).then((waited) =>
    waited.kind === 'gaveUp' ? waited.refusal : write(exchange, waited.value),
  );
}
