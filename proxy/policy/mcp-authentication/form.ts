import { BufferedBody } from '../../exchange/body.ts';
import { collect } from '../../exchange/collect.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { bodyRefusal, type Patience } from '../../exchange/patience.ts';
import type { Outcome } from '../contract.ts';
import { failure } from './answer.ts';

const MAX_BYTES = 64 * 1024;

/** The body of a request for the gateway itself, or how the request ends. */
export async function readBody(exchange: Exchange, patience: Patience): Promise<string | Outcome> {
  const { request } = exchange;
  const collected = await collect(request.body, MAX_BYTES, patience);
  switch (collected.kind) {
    case 'whole':
      request.body = new BufferedBody(collected.body.bytes);
      return Buffer.from(collected.body.bytes).toString();
    case 'overflow':
      collected.rest.cancel();
      return failure(`the body is larger than ${MAX_BYTES / 1024} KiB`, {
        status: 413,
        reason: 'InvalidRequest',
        methods: 'POST',
        error: 'invalid_request',
      });
    case 'failed':
      return { kind: 'fail', refusal: bodyRefusal(collected.error, patience) };
  }
}

/** Takes parameters called `resource` (RFC 8707) out of a query, and leaves the others as they are written. */
export function withoutResource(query: string): string {
  return query
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has('resource'))
    .join('&');
}
