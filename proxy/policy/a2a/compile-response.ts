import type { A2a } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import type { A2aFacts } from '../../exchange/a2a-facts.ts';
import { BufferedBody } from '../../exchange/body.ts';
import { codingOf, decoded } from '../../exchange/coding/content-coding.ts';
import { collect } from '../../exchange/collect.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { holdResponse } from '../../exchange/held-response.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { refuse, type Refusal } from '../../exchange/refusal.ts';
import type { PolicyContext, ResponseStep } from '../contract.ts';
import { type RewrittenCard, rewriteCard, rewriteCardResult } from './card.ts';
import type { CardPlace } from './card-place.ts';
import { isJson } from './content-type.ts';
import { watchAnswer } from './watch.ts';

/** Headers of a card that are of its bytes as the agent wrote them. */
const OF_BYTES = [
  'content-encoding',
  'content-length',
  'content-digest',
  'content-md5',
  'digest',
  'etag',
  'repr-digest',
];

/** Makes addresses in cards the gateway's own, and reads along in answers. */
export function a2aResponse(spec: A2a, context: PolicyContext): ResponseStep {
  return (exchange, response) => {
    const facts = exchange.attributes.a2a;
    if (facts !== null && !exchange.answeredByUpstream && isRefusal(response)) facts.outcome = 'error';
    // Nobody has been asked where requests are only explained.
    if (!exchange.answeredByUpstream || context.deps.dryRun !== undefined) return null;
    // `as`: nothing else is remembered under it.
    const place = exchange.recall(spec) as CardPlace | undefined;
    if (facts === null) return place === undefined ? null : answerCard({ exchange, response, place }, context);
    if (place === undefined || response.status !== 200 || !isJson(response.headers.get('content-type')))
      return watch({ exchange, response, facts }, context);
    return answerCall({ exchange, response, place }, facts, context);
  };
}

/** Over gRPC the status stands beside that of HTTP, which says nothing. */
function isRefusal({ status, headers }: HttpResponse): boolean {
  return status >= 400 || (headers.get('grpc-status') ?? '0') !== '0';
}

interface CardAnswer {
  readonly exchange: Exchange;
  readonly response: HttpResponse;
  readonly place: CardPlace;
}

/** What is no card (a refusal of the agent, a redirect) goes on as it is. */
function answerCard(answer: CardAnswer, context: PolicyContext): null | Promise<Refusal | null> {
  const { exchange, response } = answer;
  if (response.status === 200) return moveCard(answer, context);
  if (exchange.trace !== null) exchange.trace.skipped('a2a', `the agent answered ${response.status} instead of a card`);
  return null;
}

async function moveCard(answer: CardAnswer, context: PolicyContext): Promise<Refusal | null> {
  const read = await readText(answer, context);
  if (typeof read !== 'string') return read;
  const card = rewriteCard(read, answer.place);
  if (card.kind === 'card') return put(answer, card, context);
  answer.exchange.trace?.applied('a2a', `${card.problem} (from ${context.source})`, 'error');
  return failed(card.problem);
}

/** A call that gives a card. When it fails instead, the answer says why. */
async function answerCall(answer: CardAnswer, facts: A2aFacts, context: PolicyContext): Promise<Refusal | null> {
  const read = await readText(answer, context);
  if (typeof read !== 'string') return read;
  const card = (facts.binding === 'http' ? rewriteCard : rewriteCardResult)(read, answer.place);
  if (card.kind === 'card') put(answer, card, context);
  else answer.exchange.trace?.skipped('a2a', card.problem);
  return watch({ ...answer, facts }, context);
}

function put(
  { exchange, response, place }: CardAnswer,
  { text, urls }: RewrittenCard & { readonly kind: 'card' },
  { source }: PolicyContext,
): null {
  for (const name of OF_BYTES) response.headers.remove(name);
  response.body = new BufferedBody(Buffer.from(text));
  exchange.trace?.applied('a2a', `agent card: ${urls} addresses lead to ${place.origin} (from ${source})`);
  return null;
}

interface CallAnswer extends Pick<CardAnswer, 'exchange' | 'response'> {
  readonly facts: A2aFacts;
}

function watch({ exchange, response, facts }: CallAnswer, { deps }: PolicyContext): null {
  watchAnswer(response, facts, deps.maxBufferSize);
  if (exchange.trace !== null) tellAtEnd(exchange, facts);
  return null;
}

function failed(problem: string): Refusal {
  return refuse(503, 'UpstreamFailure', `processing failed: ${problem}`);
}

/** The whole body as text; it stays in its place. */
async function readText(
  { exchange, response }: CardAnswer,
  { deps, source }: PolicyContext,
): Promise<string | Refusal> {
  const read = await readBody(exchange, response, deps);
  if (typeof read !== 'string') exchange.trace?.applied('a2a', `agent card: ${read.message} (from ${source})`, 'error');
  return read;
}

async function readBody(
  exchange: Exchange,
  response: HttpResponse,
  limits: PolicyContext['deps'],
): Promise<string | Refusal> {
  const { maxBufferSize } = limits;
  const coding = codingOf(response.headers);
  if (coding === undefined) return failed('the agent card is coded in an unknown way');
  const { result: collected, refusalFor } = await holdResponse(exchange, response.body, {
    limits,
    read: (body, patience) => collect(body, maxBufferSize, patience),
  });
  if (collected.kind === 'failed') return refusalFor(collected.error);
  if (collected.kind === 'overflow') {
    collected.rest.cancel();
    return failed(`the agent card is longer than ${maxBufferSize} bytes`);
  }
  response.body = collected.body;
  try {
    const { bytes } = collected.body;
    return new TextDecoder().decode(coding === null ? bytes : await decoded(bytes, coding, maxBufferSize));
  } catch (error) {
    return failed(`the agent card cannot be decoded: ${messageOf(error)}`);
  }
}

function tellAtEnd(exchange: Exchange, facts: A2aFacts): void {
  exchange.onEnd(() => {
    const { method, binding, outcome, errorCode, resultKind, taskId, taskState, contextId, events } = facts;
    const known = { errorCode, resultKind, taskId, taskState, contextId, events };
    const told = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
    const details = { method, binding, outcome: outcome ?? 'unknown', ...told };
    exchange.trace?.emit({ type: 'policyEvent', kind: 'a2a', details }, outcome === 'error' ? 'error' : 'info');
  });
}
