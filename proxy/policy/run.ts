import type { Exchange } from '../exchange/exchange.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { Outcome, RequestStep, ResponseStep } from './contract.ts';
import { next } from './contract.ts';

/** One configured policy in its place. */
export interface NamedStep {
  /** The key of the configuration. */
  readonly policy: string;
  /** The stage of the trace after it; null for a policy that has none. */
  readonly stage: string | null;
  readonly run: RequestStep;
  readonly snapshot: (exchange: Exchange, stage: string) => void;
}

export interface NamedResponseStep {
  readonly policy: string;
  readonly stage: string | null;
  readonly run: ResponseStep;
  readonly snapshot: (exchange: Exchange, response: HttpResponse, stage: string) => void;
}

/** Runs the steps until one does not say `next`; a promise only if a step really waits. */
export function runRequest(steps: readonly NamedStep[], exchange: Exchange, from = 0): Outcome | Promise<Outcome> {
  for (let i = from; i < steps.length; i++) {
    const step = steps[i];
    if (step === undefined) break;
    const outcome = step.run(exchange);
    if (outcome instanceof Promise) return continueRequest(steps, exchange, { at: i, outcome });
    if (outcome.kind !== 'next') return outcome;
    if (exchange.trace !== null && step.stage !== null) step.snapshot(exchange, step.stage);
  }
  return next;
}

interface Waiting<T> {
  readonly at: number;
  readonly outcome: Promise<T>;
}

async function continueRequest(
  steps: readonly NamedStep[],
  exchange: Exchange,
  waiting: Waiting<Outcome>,
): Promise<Outcome> {
  const outcome = await waiting.outcome;
  if (outcome.kind !== 'next') return outcome;
  const step = steps[waiting.at];
  if (exchange.trace !== null && step !== undefined && step.stage !== null) step.snapshot(exchange, step.stage);
  return runRequest(steps, exchange, waiting.at + 1);
}

/** Runs the steps on a response; a refusal, if any, is to be sent instead. */
export function runResponse(
  steps: readonly NamedResponseStep[],
  exchange: Exchange,
  response: HttpResponse,
): Refusal | null | Promise<Refusal | null> {
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i];
    if (step === undefined) break;
    const refusal = step.run(exchange, response);
    if (refusal instanceof Promise) return continueResponse(steps.slice(i), refusal, { exchange, response });
    if (refusal !== null) return refusal;
    if (exchange.trace !== null && step.stage !== null) step.snapshot(exchange, response, step.stage);
  }
  return null;
}

interface Answering {
  readonly exchange: Exchange;
  readonly response: HttpResponse;
}

/** The first step is the one that waits. */
async function continueResponse(
  steps: readonly NamedResponseStep[],
  waiting: Promise<Refusal | null>,
  { exchange, response }: Answering,
): Promise<Refusal | null> {
  const refusal = await waiting;
  const step = steps[0];
  if (refusal !== null || step === undefined) return refusal;
  if (exchange.trace !== null && step.stage !== null) step.snapshot(exchange, response, step.stage);
  return runResponse(steps.slice(1), exchange, response);
}
