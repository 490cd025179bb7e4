import type { BufferLimit } from '../../../src/config/ir/index.ts';
import type { Body } from '../../exchange/body.ts';
import type { Collected } from '../../exchange/collect.ts';
import { collect } from '../../exchange/collect.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { holdResponse } from '../../exchange/held-response.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { bodyRefusal, Patience } from '../../exchange/patience.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { refuse } from '../../exchange/refusal.ts';
import type { Outcome, PolicyContext, RequestStep, ResponseStep } from '../contract.ts';
import { next } from '../contract.ts';

const upgradeReason = 'an upgrade has no body to buffer';
const requestTooLarge: Refusal = {
  ...refuse(413, 'InvalidRequest', 'request body exceeds the buffer limit'),
  bodyless: true,
};
const responseTooLarge: Refusal = {
  ...refuse(502, 'UpstreamFailure', 'response body exceeds the buffer limit'),
  bodyless: true,
};

/** Reads the request body before anything is sent upstream. Upgrades have no body to read. */
export function bufferRequest(spec: BufferLimit, context: PolicyContext): RequestStep {
  const limitBytes = spec.maxBytes ?? context.deps.maxBufferSize;
  const read = async (exchange: Exchange): Promise<Outcome> => {
    const patience = new Patience(exchange, context.deps.clock);
    const collected = await collect(exchange.request.body, limitBytes, patience);
    patience.release();
    report(exchange, outcomeOf('request', collected, spec), context.source);
    if (collected.kind === 'failed') return { kind: 'fail', refusal: bodyRefusal(collected.error, patience) };
    const body = acceptedBody(collected, spec);
    if (body === null) return { kind: 'fail', refusal: requestTooLarge };
    exchange.request.body = body;
    return next;
  };
  return (exchange) => {
    const { request } = exchange;
    if (request.upgrade !== null || request.method === 'CONNECT') {
      if (exchange.trace !== null) exchange.trace.skipped('buffer', upgradeReason);
      return next;
    }
    if (request.body.length === 0) {
      if (exchange.trace !== null) exchange.trace.skipped('buffer', 'the request has no body');
      return next;
    }
    return read(exchange);
  };
}

/** Reads the response body before anything is sent to the client. */
export function bufferResponse(spec: BufferLimit, context: PolicyContext): ResponseStep {
  const limitBytes = spec.maxBytes ?? context.deps.maxBufferSize;
  const read = async (exchange: Exchange, response: HttpResponse): Promise<Refusal | null> => {
    const { result: collected, refusalFor } = await holdResponse(exchange, response.body, {
      limits: context.deps,
      read: (body, patience) => collect(body, limitBytes, patience),
    });
    report(exchange, outcomeOf('response', collected, spec), context.source);
    if (collected.kind === 'failed') return refusalFor(collected.error);
    const body = acceptedBody(collected, spec);
    if (body === null) return responseTooLarge;
    response.body = body;
    return null;
  };
  return (exchange, response) => {
    if (response.status === 101 || exchange.request.upgrade !== null) {
      if (exchange.trace !== null) exchange.trace.skipped('buffer', upgradeReason);
      return null;
    }
    if (response.body.length === 0) {
      if (exchange.trace !== null) exchange.trace.skipped('buffer', 'the response has no body');
      return null;
    }
    return read(exchange, response);
  };
}

/** The body to go on with; null, and cancelled, when it is too large. */
function acceptedBody(collected: Exclude<Collected, { kind: 'failed' }>, spec: BufferLimit): Body | null {
  if (collected.kind === 'whole') return collected.body;
  if (spec.failureMode === 'failOpen') return collected.rest;
  collected.rest.cancel();
  return null;
}

interface Told {
  readonly text: string;
  readonly severity: 'info' | 'error';
}

function outcomeOf(side: 'request' | 'response', collected: Collected, spec: BufferLimit): Told {
  if (collected.kind === 'whole') return { text: `${side}: ${collected.body.length} bytes`, severity: 'info' };
  if (collected.kind === 'failed') return { text: `${side}: ${collected.error.message}`, severity: 'error' };
  if (spec.failureMode === 'failOpen') return { text: `${side}: over the limit, streams on`, severity: 'info' };
  return { text: `${side}: over the limit, refused`, severity: 'error' };
}

function report(exchange: Exchange, told: Told, source: string): void {
  if (exchange.trace !== null) exchange.trace.applied('buffer', `${told.text} (from ${source})`, told.severity);
}
