import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import type { ExtProc } from '../../../src/config/ir/policy/ext-proc.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { bodyRefusal, type Patience } from '../../exchange/patience.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { compileChoice } from '../conditional.ts';
import { next, type Outcome, type PolicyContext, type RequestStep } from '../contract.ts';
import { Conversation } from './conversation.ts';
import { requestDirection } from './direction.ts';
import { BodyCut, Ended } from './ended.ts';
import { KIND, failed } from './failed.ts';
import { immediateAnswer } from './immediate.ts';
import { asksAnything, Passage } from './passage.ts';
import { compileSettings, evaluated, type Settings } from './settings.ts';

/** An external service reads and changes the request. Throws a `GwError` for what cannot be compiled. */
export function extProcRequest(choice: Choice<ExtProc>, context: PolicyContext): RequestStep {
  const chooser = compileChoice(choice, { policy: 'extProc', kind: KIND, context, sides: 'both' }, (spec, index) =>
    compileSettings(spec, choice.entries.length === 1 ? 'extProc' : `extProc conditional[${index}]`, context),
  );
  return (exchange) => {
    const settings = chooser.choose(exchange);
    if (settings === null) return next;
    const conversation = new Conversation(settings, exchange);
    // The response side asks for it by the same key.
    exchange.remember(choice.entries, conversation);
    const direction = requestDirection(exchange);
    if (asksAnything(conversation, direction)) return new Asking(exchange, conversation, context).run();
    conversation.done('request');
    if (exchange.trace !== null)
      exchange.trace.skipped(KIND, `nothing of the request is sent (from ${context.source})`);
    return next;
  };
}

/** One request on its way past the service. */
class Asking {
  readonly #exchange: Exchange;
  readonly #conversation: Conversation;
  readonly #context: PolicyContext;
  readonly #settings: Settings;

  constructor(exchange: Exchange, conversation: Conversation, context: PolicyContext) {
    this.#exchange = exchange;
    this.#conversation = conversation;
    this.#context = context;
    this.#settings = conversation.settings;
  }

  async run(): Promise<Outcome> {
    const exchange = this.#exchange;
    const startedAt = exchange.trace?.now() ?? null;
    const patience = this.#conversation.patience();
    const passage = this.#passage(patience.signal);
    const { authority } = exchange.request;
    try {
      await passage.run();
      // In the gateway phase an authority is what routes are chosen by; later it is what the upstream gets.
      if (this.#context.phase !== 'gateway' && exchange.request.authority !== authority)
        exchange.authorityDecided = true;
      this.#tell(passage.changes.join(', ') || 'nothing changed', { startedAt });
      return next;
    } catch (error) {
      return this.#notPassed(error, { passage, patience, startedAt });
    } finally {
      patience.release();
    }
  }

  #passage(signal: AbortSignal): Passage {
    const exchange = this.#exchange;
    const { requestAttributes, log, spec } = this.#settings;
    return new Passage({
      conversation: this.#conversation,
      exchange,
      direction: requestDirection(exchange),
      attributes: evaluated(requestAttributes, exchange, log),
      failOpen: spec.failureMode === 'failOpen',
      signal,
    });
  }

  #notPassed(
    error: unknown,
    { passage, patience, startedAt }: { passage: Passage; patience: Patience; startedAt: number | null },
  ): Outcome {
    const conversation = this.#conversation;
    conversation.cancel('the request was not let pass');
    if (!(error instanceof BodyCut || error instanceof Ended)) throw error;
    conversation.skipped = true;
    if (error instanceof BodyCut) return this.#fail(bodyRefusal(error.cause, patience), startedAt);
    if (patience.refusal === null && this.#mayPass(error, passage)) {
      passage.pass();
      this.#tell(`let pass: ${error.message}`, { startedAt, severity: 'warn' });
      return next;
    }
    passage.abandon(error);
    if (patience.refusal !== null) return this.#fail(patience.refusal, startedAt);
    if (error.immediate !== null) return this.#answered(error.immediate, startedAt);
    return this.#fail(failed(error), startedAt);
  }

  #fail(refusal: Refusal, startedAt: number | null): Outcome {
    this.#tell(`failed: ${refusal.message}`, { startedAt, severity: 'error' });
    return { kind: 'fail', refusal };
  }

  /** A failure is forgiven as long as the service has got nothing of the body. */
  #mayPass({ immediate }: Ended, { untouched }: Passage): boolean {
    return immediate === null && this.#settings.spec.failureMode === 'failOpen' && untouched;
  }

  #answered(immediate: NonNullable<Ended['immediate']>, startedAt: number | null): Outcome {
    const answer = immediateAnswer(immediate, this.#exchange.request);
    const { status } = answer.kind === 'refusal' ? answer.refusal : answer.response;
    this.#tell(`direct response with status ${status}`, { startedAt, severity: status >= 400 ? 'warn' : 'info' });
    if (answer.kind === 'refusal') return { kind: 'fail', refusal: answer.refusal };
    return { kind: 'respond', response: answer.response, policy: 'extProc' };
  }

  #tell(
    what: string,
    { startedAt, severity = 'info' }: { startedAt: number | null; severity?: 'info' | 'warn' | 'error' },
  ): void {
    const { trace } = this.#exchange;
    if (trace !== null) trace.applied(KIND, `request: ${what} (from ${this.#context.source})`, severity, startedAt);
  }
}
