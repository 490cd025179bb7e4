import type { Exchange } from '../../exchange/exchange.ts';
import { LentCredentials } from '../../exchange/lent-credentials.ts';

type Carrier = Pick<Exchange, 'request' | 'lent'>;

/** The token of `Authorization: Bearer`. */
export function bearerOf({ request }: Carrier): string | undefined {
  const value = request.headers.get('authorization');
  return value !== undefined && /^bearer /i.test(value) ? value.slice('bearer '.length).trim() : undefined;
}

/** Moves the token of `Authorization: Bearer` to a header of its own; hidden and taken off like other credentials. */
export function moveBearer(exchange: Carrier, token: string, name: string): void {
  const { request } = exchange;
  const lent = (exchange.lent ??= new LentCredentials());
  lent.lendHeader(request, 'authorization');
  lent.lendHeader(request, name);
  request.headers.remove('authorization');
  request.headers.set(name, token);
}

/** Takes a header off that is not the gateway's own. */
export function dropForeign({ request, lent }: Carrier, name: string): void {
  if (lent?.hidesHeader(name) !== true) request.headers.remove(name);
}
