import { collect } from '../../../exchange/collect.ts';
import { codingOf, decoded } from '../../../exchange/coding/content-coding.ts';
import { messageOf } from '../../../../src/shared/errors.ts';
import type { RequestId, RpcAnswer } from '../../message/message.ts';
import type { Calling, CallSink, TargetFailure } from '../contract.ts';
import type { HttpAnswer, HttpCalling } from '../http-caller.ts';
import { textIn } from './media.ts';
import { type Answered, type AnsweredCall, toolResult } from './result.ts';

export interface CallEnd extends AnsweredCall {
  readonly id: RequestId;
  readonly sink: CallSink;
  readonly maxAnswerBytes: number;
}

/** Characters of a failed answer that the client is told. */
const MAX_TOLD = 4_096;

/** Delivers what comes of a request to the service. */
export function sendCall(calling: HttpCalling, end: CallEnd): Calling {
  const { sink, maxAnswerBytes } = end;
  let cancelled = false;
  const deliver = async (): Promise<void> => {
    const answer = await finish(calling, maxAnswerBytes);
    if (cancelled) return;
    if ('failure' in answer) {
      sink.onEnd(answer.failure);
      return;
    }
    sink.onMessage(answerOf(answer, end));
    sink.onEnd(null);
  };
  void deliver();
  return {
    cancel() {
      cancelled = true;
      calling.cancel();
    },
    // An answer is held as a whole.
    pause() {},
    resume() {},
  };
}

function answerOf(answer: Answered, end: CallEnd): RpcAnswer {
  const { id } = end;
  return answer.status >= 500
    ? { kind: 'error', id, error: { code: -32603, message: failed(answer) } }
    : { kind: 'result', id, result: toolResult(answer, end) };
}

type Finished = Answered | { readonly failure: TargetFailure };

async function finish(calling: HttpCalling, limit: number): Promise<Finished> {
  const outcome = await calling.outcome;
  if (outcome.kind !== 'answer') return { failure: outcome };
  try {
    const { status, headers } = outcome.response;
    return { status, headers, bytes: await wholeBody(outcome, limit) };
  } catch (error) {
    calling.cancel();
    return { failure: { kind: 'broken', message: messageOf(error) } };
  }
}

async function wholeBody({ response: { headers, body } }: HttpAnswer, limit: number): Promise<Uint8Array> {
  const coding = codingOf(headers);
  if (coding === undefined) {
    body.cancel();
    throw new Error(`the answer is coded in an unknown way: ${headers.get('content-encoding')?.slice(0, 100) ?? ''}`);
  }
  const collected = await collect(body, limit);
  if (collected.kind === 'failed') throw collected.error;
  if (collected.kind === 'overflow') {
    collected.rest.cancel();
    throw new Error(`the answer is longer than ${limit} bytes`);
  }
  return coding === null ? collected.body.bytes : decoded(collected.body.bytes, coding, limit);
}

function failed({ status, headers, bytes }: Answered): string {
  const text = textIn(headers, bytes).slice(0, MAX_TOLD);
  return `upstream error ${status}${text === '' ? '' : `: ${text}`}`;
}
