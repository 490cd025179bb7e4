import type { A2a } from '../../../src/config/ir/index.ts';
import { isJsonObject, type JsonValue } from '../../../src/shared/json.ts';
import { A2aFacts } from '../../exchange/a2a-facts.ts';
import { codingOf, decoded, type Codings } from '../../exchange/coding/content-coding.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf } from '../../exchange/message.ts';
import { bodyRefusal, Patience } from '../../exchange/patience.ts';
import { peekBody } from '../../exchange/peek.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { callPlaceOf, cardPlaceOf } from './card-place.ts';
import { isGrpc, isJson } from './content-type.ts';
import { asksForCard, grpcOperationOf, methodLabel, operationOf } from './methods.ts';

const MAX_METHOD = 128;

/** Tells calls of agents apart, and remembers where a card was asked for. Changes nothing. */
export function a2aRequest(spec: A2a, context: PolicyContext): RequestStep {
  const { source, deps } = context;
  const begin = (exchange: Exchange, facts: A2aFacts): Outcome => {
    exchange.attributes.a2a = facts;
    if (asksForCard(facts.method)) exchange.remember(spec, callPlaceOf(exchange));
    exchange.onEnd(() => count(context, facts));
    const { trace } = exchange;
    if (trace !== null) {
      const { method, binding } = facts;
      trace.applied('a2a', `calls ${method} (from ${source})`);
      trace.emit({ type: 'policyEvent', kind: 'a2a_request', details: { method, binding } });
    }
    return next;
  };
  const peek = async (exchange: Exchange): Promise<Outcome> => {
    const { request } = exchange;
    const coding = codingOf(request.headers);
    // Nobody has to look at what is compressed twice, or in a way that is not known.
    if (coding === undefined || (coding?.length ?? 0) > 1) return begin(exchange, unknownCall());
    const patience = new Patience(exchange, deps.clock);
    const peeked = await peekBody(request.body, deps.maxBufferSize, patience.signal);
    patience.release();
    if (peeked.kind === 'failed') return { kind: 'fail', refusal: bodyRefusal(peeked.error, patience) };
    request.body = peeked.body;
    const plain = peeked.whole ? await plainOf(peeked.bytes, coding, deps.maxBufferSize) : null;
    return begin(exchange, (plain === null ? null : callOf(plain)) ?? unknownCall());
  };
  return (exchange) => {
    const { request, attributes } = exchange;
    // Another attempt asks for the same.
    if (attributes.a2a !== null || request.upgrade !== null) return next;
    const card = cardPlaceOf(exchange);
    if (card !== null) {
      exchange.remember(spec, card);
      return next;
    }
    const type = request.headers.get('content-type');
    if (isGrpc(type)) return begin(exchange, new A2aFacts(grpcOperationOf(pathOf(request.target)), 'grpc'));
    const operation = operationOf(request.method, pathOf(request.target));
    if (operation !== null) return begin(exchange, new A2aFacts(operation, 'http'));
    if (request.method !== 'POST') {
      if (exchange.trace !== null) exchange.trace.skipped('a2a', 'neither a call of an agent nor its card');
      return next;
    }
    return isJson(type) ? peek(exchange) : begin(exchange, unknownCall());
  };
}

function unknownCall(): A2aFacts {
  return new A2aFacts('unknown', 'other');
}

/** Null for what cannot be decoded, or is too long then: it goes on as it is, and the agent says what it thinks of it. */
async function plainOf(bytes: Uint8Array, coding: Codings | null, limitBytes: number): Promise<Uint8Array | null> {
  if (coding === null) return bytes;
  try {
    return await decoded(bytes, coding, limitBytes);
  } catch {
    return null;
  }
}

/** A call in JSON-RPC; null for what is none. */
function callOf(bytes: Uint8Array): A2aFacts | null {
  try {
    // `as`: what `JSON.parse` gives.
    const call = JSON.parse(new TextDecoder().decode(bytes)) as JsonValue;
    if (!isJsonObject(call)) return null;
    const { method, id } = call;
    const name = typeof method === 'string' && method !== '' ? method.slice(0, MAX_METHOD) : 'unknown';
    return new A2aFacts(name, 'jsonRpc', typeof id === 'string' || typeof id === 'number' ? id : null);
  } catch {
    return null;
  }
}

function count({ deps: { metrics } }: PolicyContext, { method, outcome }: A2aFacts): void {
  metrics?.counter('a2aRequests', [methodLabel(method), outcome ?? 'unknown']).add(1);
}
