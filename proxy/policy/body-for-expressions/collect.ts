import { BufferedBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { holdResponse } from '../../exchange/held-response.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { bodyRefusal, Patience } from '../../exchange/patience.ts';
import { type Peeked, peekBody } from '../../exchange/peek.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import type { PolicyDeps, RequestStep, ResponseStep } from '../contract.ts';
import { next } from '../contract.ts';
import type { NamedResponseStep, NamedStep } from '../run.ts';

export interface CollectOptions {
  readonly limitBytes: number;
  readonly deps: PolicyDeps;
}

/** Reads the request body for the expressions that follow. Upgrades have none; what is in memory stays as it is. */
export function collectRequestBody(options: CollectOptions): NamedStep {
  const { limitBytes, deps } = options;
  const run: RequestStep = (exchange) => {
    const { request, progress } = exchange;
    const { body } = request;
    if (request.upgrade !== null || request.method === 'CONNECT') return next;
    if (body.length === 0 || body instanceof BufferedBody) return next;
    const known = progress?.bodies.requestPrefix?.byteLength ?? -1;
    return known >= limitBytes ? next : readRequest(exchange, options);
  };
  return { policy: 'body', stage: null, run, snapshot: deps.snapshot };
}

async function readRequest(exchange: Exchange, { limitBytes, deps }: CollectOptions): Promise<typeof next | Failed> {
  const patience = new Patience(exchange, deps.clock);
  const peeked = await peekBody(exchange.request.body, limitBytes, patience.signal);
  patience.release();
  if (peeked.kind === 'failed') return { kind: 'fail', refusal: bodyRefusal(peeked.error, patience) };
  exchange.request.body = peeked.body;
  const bodies = exchange.progress?.bodies;
  if (bodies !== undefined && !peeked.whole) bodies.requestPrefix = peeked.bytes;
  if (exchange.trace !== null) report(exchange, 'request', peeked);
  return next;
}

interface Failed {
  readonly kind: 'fail';
  readonly refusal: Refusal;
}

/** Reads the response body for the expressions that follow. */
export function collectResponseBody(options: CollectOptions): NamedResponseStep {
  const { deps } = options;
  const run: ResponseStep = (exchange, response) => {
    const { body } = response;
    if (response.status === 101 || exchange.request.upgrade !== null) return null;
    if (body.length === 0 || body instanceof BufferedBody) return null;
    return readResponse(exchange, response, options);
  };
  return { policy: 'body', stage: null, run, snapshot: deps.responseSnapshot };
}

async function readResponse(
  exchange: Exchange,
  response: HttpResponse,
  { limitBytes, deps }: CollectOptions,
): Promise<Refusal | null> {
  const { result: peeked, refusalFor } = await holdResponse(exchange, response.body, {
    limits: deps,
    read: (body, patience) => peekBody(body, limitBytes, patience.signal),
  });
  if (peeked.kind === 'failed') return refusalFor(peeked.error);
  response.body = peeked.body;
  const bodies = exchange.progress?.bodies;
  if (bodies !== undefined && !peeked.whole) bodies.responsePrefix = peeked.bytes;
  if (exchange.trace !== null) report(exchange, 'response', peeked);
  return null;
}

function report(exchange: Exchange, side: string, { whole, bytes }: Extract<Peeked, { kind: 'seen' }>): void {
  const details = whole
    ? `${side}: ${bytes.byteLength} bytes for expressions`
    : `${side}: longer than ${bytes.byteLength} bytes, expressions see only the beginning`;
  exchange.trace?.emit({ type: 'policyEvent', kind: 'body', details }, whole ? 'info' : 'warn');
}
