import type { JsonObject } from '../../../proxy/exchange/attributes.ts';
import { emptyBody } from '../../../proxy/exchange/body.ts';
import { Exchange } from '../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { Secret } from '../../../src/shared/secret.ts';

/** A finished exchange: GET http://shop.test/cart?page=2, answered with 503. */
export function finishedExchange(
  options: { readonly headers?: Readonly<Record<string, string>>; readonly claims?: JsonObject } = {},
): Exchange {
  const exchange = new Exchange(
    {
      method: 'GET',
      scheme: 'http',
      authority: 'shop.test',
      target: '/cart?page=2',
      version: 'HTTP/1.1',
      headers: Headers.from(Object.entries(options.headers ?? {})),
      body: emptyBody,
      upgrade: null,
    },
    {
      id: 1,
      bind: 'bind/80',
      bindPort: 80,
      sourceAddress: '10.0.0.9',
      sourcePort: 5000,
      rawAddress: '10.0.0.9',
      rawPort: 5000,
      destinationAddress: '10.0.0.1',
      destinationPort: 80,
      tls: null,
    },
    {
      respond() {},
      informational() {},
      takeOver: () => null,
      onClientGone() {},
      closeAfterResponse() {},
    },
    null,
  );
  exchange.response = { status: 503, headers: new Headers(), body: emptyBody };
  if (options.claims !== undefined) exchange.attributes.jwt = { claims: options.claims, rawToken: new Secret('t') };
  return exchange;
}
