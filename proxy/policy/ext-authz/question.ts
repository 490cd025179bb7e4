import type { HttpRequest } from '../../exchange/message.ts';
import type { EvalContext } from '../../expression/contract.ts';
import type { CallOptions } from '../../services/contract.ts';
import type { Decision } from './decision.ts';

/** What a service is asked about: a request, or a connection that has none yet. */
export interface Question {
  readonly context: EvalContext;
  readonly request: HttpRequest | null;
  /** When the request arrived, on the scale of `performance.now()`. */
  readonly startedAt: number;
  /** What is sent along of the request's body; null for nothing. */
  readonly body: SentBody | null;
}

export interface SentBody {
  readonly bytes: Uint8Array;
  /** False when there is more. */
  readonly whole: boolean;
}

export interface Answer {
  readonly decision: Decision;
  /** What expressions about the answer see. */
  readonly context: EvalContext;
}

/** Asks one service in its protocol. Throws a `ServiceError` when there is no usable answer. */
export type Ask = (question: Question, call: Pick<CallOptions, 'signal' | 'trace' | 'spans'>) => Promise<Answer>;
