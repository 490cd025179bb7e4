import { TimeoutError } from '../../../src/admin/client/errors.ts';
import { groupRequests, tapFrames, type Frames } from '../../../src/admin/client/request-groups.ts';
import type { TraceFrame } from '../../../src/admin/client/trace-frames.ts';
import type { Answer } from '../../../src/admin/inject/answer.ts';
import { isSecretName, redactEvent } from '../../../src/admin/protocol/redact.ts';
import {
  checkExpectations,
  expectationError,
  hasExpectations,
  type Failure,
} from '../../../src/admin/views/expectations.ts';
import { GwError } from '../../../src/shared/errors.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { answerSummary, renderAnswer } from '../../../ui/text/answer.ts';
import type { Paint } from '../../../ui/text/paint.ts';
import { renderTrace } from '../../../ui/text/trace.ts';
import { cutAnswer, failedAnswer } from './injection.ts';
import type { TracePlan } from './options.ts';
import type { TraceSource } from './source.ts';

export interface TraceOutput {
  readonly out: (text: string) => Promise<void>;
  readonly note: (text: string) => Promise<void>;
  readonly paint: Paint;
  readonly columns: number | undefined;
  readonly signal: AbortSignal;
}

/** A sent request is over with its answer; its events must follow soon. */
const TRACE_AFTER_ANSWER_MS = 5000;

/** Prints requests as text or JSON Lines until the plan is fulfilled; throws when an expectation was not met. */
export async function runTrace(plan: TracePlan, source: TraceSource, output: TraceOutput): Promise<void> {
  const failures: Failure[] = [];
  const deadline = new Deadline(plan, source, output.signal);
  let seen = 0;
  try {
    for await (const group of deadline.guard(groupRequests(printing(plan, source.frames, output)))) {
      if (plan.count !== undefined && seen >= plan.count) break;
      seen += 1;
      const events = group.map((frame) => frame.event);
      if (plan.format === 'text')
        await output.out(
          `${seen > 1 ? '\n' : ''}${renderTrace(events.map(shown(plan)), { paint: output.paint, width: output.columns })}`,
        );
      failures.push(...checkExpectations(events, plan.expected));
      // A request that is cut off leaves it to the stream to say why.
      if (plan.count !== undefined && seen >= plan.count && isWhole(events)) break;
    }
  } finally {
    deadline.stop();
  }
  if (source.answer !== undefined) await showAnswer(plan, source, await source.answer, output);
  if (seen === 0) throw nothingSeen(plan, source);
  if (plan.count !== undefined && plan.count > seen && plan.target.kind === 'proxy') {
    await output.note(`the stream ended after ${seen} of ${plan.count} requests`);
  }
  if (failures.length > 0) throw expectationError(failures);
  if (hasExpectations(plan.expected)) await output.note(`as expected${seen > 1 ? `, ${seen} times` : ''}`);
}

function isWhole(events: readonly TraceFrame['event'][]): boolean {
  return events.some((event) => event.message.type === 'requestFinished');
}

function shown(plan: TracePlan): (event: TraceFrame['event']) => TraceFrame['event'] {
  return plan.redact ? redactEvent : (event) => event;
}

/** `jsonl` prints every event as it arrives, in the words of the server. */
function printing(plan: TracePlan, frames: Frames, output: TraceOutput): Frames {
  if (plan.format !== 'jsonl') return frames;
  return tapFrames(frames, (frame) =>
    output.out(`${plan.redact ? JSON.stringify(redactEvent(frame.event)) : frame.raw}\n`),
  );
}

async function showAnswer(
  plan: TracePlan,
  { injection }: TraceSource,
  answer: Answer,
  output: TraceOutput,
): Promise<void> {
  const hidden = plan.redact ? isSecretName : undefined;
  if (plan.format === 'text' && injection?.outputFile === undefined && injection?.quiet !== true) {
    await output.out(
      `\nanswer, ${answerSummary(answer)}\n${renderAnswer(answer, { paint: output.paint, redacted: hidden })}`,
    );
  } else await output.note(`answer: ${answerSummary(answer)}`);
  if (answer.failure !== undefined) throw cutAnswer(answer.failure);
  if (injection?.failOnError === true && answer.status >= 400) throw failedAnswer(answer.status);
}

function nothingSeen(plan: TracePlan, source: TraceSource): GwError {
  if (plan.target.kind === 'file')
    return new GwError(`${source.name} holds no trace events`, { code: 'GW_TRACE_EMPTY' });
  const what =
    source.injection === undefined
      ? 'the stream ended before a request was traced'
      : 'the proxy did not trace the request';
  return new GwError(what, { code: 'GW_TRACE_EMPTY' });
}

/** Ends the wait for events: `--timeout`, a failed send, or an answer without a trace. */
class Deadline {
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #failure: Promise<never>;
  #reject: (error: unknown) => void = () => {};

  constructor(plan: TracePlan, source: TraceSource, signal: AbortSignal) {
    this.#failure = new Promise<never>((_, reject) => {
      this.#reject = reject;
    });
    this.#failure.catch(() => {
      // Whoever waits for the next request is told; later there is nobody left.
    });
    signal.addEventListener('abort', () => this.#reject(signal.reason), { once: true });
    const { timeoutMs } = plan;
    if (timeoutMs !== undefined)
      this.#after(timeoutMs, () => new TimeoutError(`no request was traced within ${formatDuration(timeoutMs)}`));
    source.answer?.then(
      () => this.#after(TRACE_AFTER_ANSWER_MS, () => nothingSeen(plan, source)),
      (error: unknown) => this.#reject(error),
    );
  }

  /** The same requests, until the deadline has passed. */
  async *guard<T>(requests: AsyncGenerator<T>): AsyncGenerator<T> {
    for (;;) {
      const result = await Promise.race([requests.next(), this.#failure]);
      if (result.done === true) return;
      yield result.value;
    }
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #after(ms: number, error: () => Error): void {
    this.#timers.push(setTimeout(() => this.#reject(error()), ms));
  }
}
