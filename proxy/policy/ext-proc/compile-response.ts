import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import type { ExtProc } from '../../../src/config/ir/policy/ext-proc.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { HttpResponse } from '../../exchange/message.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { compileChoice } from '../conditional.ts';
import type { PolicyContext, ResponseStep } from '../contract.ts';
import { Conversation } from './conversation.ts';
import { responseDirection } from './direction.ts';
import { BodyCut, Ended } from './ended.ts';
import { failed, KIND } from './failed.ts';
import { immediateAnswer, refusalOf } from './immediate.ts';
import { asksAnything, Passage } from './passage.ts';
import { compileNamed, evaluated } from './settings.ts';

/**
 * The service that was chosen on the request reads and changes the upstream's response; other responses pass it. Also tells
 * the client what became of a request whose body was still on its way through the service.
 */
export function extProcResponse(choice: Choice<ExtProc>, context: PolicyContext): ResponseStep {
  const place = { policy: 'extProc', kind: KIND, context, sides: 'both' } as const;
  const chooser = compileChoice(choice, place, (spec, index) =>
    compileNamed(spec.responseAttributes, `extProc[${index}] responseAttributes`, context.deps),
  );
  return (exchange, response) => {
    const conversation = exchange.recall(choice.entries);
    if (!(conversation instanceof Conversation) || conversation.skipped) return null;
    const answering = new Answering(exchange, response, { conversation, context });
    const { ended } = conversation;
    if (ended !== null && (ended.immediate !== null || conversation.cut)) return answering.notPassed(ended);
    if (!exchange.answeredByUpstream) {
      conversation.leave();
      return null;
    }
    if (!asksAnything(conversation, responseDirection(response))) {
      conversation.done('response');
      return null;
    }
    return answering.run(evaluated(chooser.chosen(exchange) ?? [], exchange, conversation.settings.log));
  };
}

/** One response on its way past the service. */
class Answering {
  readonly #exchange: Exchange;
  readonly #response: HttpResponse;
  readonly #conversation: Conversation;
  readonly #context: PolicyContext;
  readonly #startedAt: number | null;

  constructor(
    exchange: Exchange,
    response: HttpResponse,
    { conversation, context }: { readonly conversation: Conversation; readonly context: PolicyContext },
  ) {
    this.#exchange = exchange;
    this.#response = response;
    this.#conversation = conversation;
    this.#context = context;
    this.#startedAt = exchange.trace?.now() ?? null;
  }

  async run(attributes: ReturnType<typeof evaluated>): Promise<Refusal | null> {
    const exchange = this.#exchange;
    const conversation = this.#conversation;
    const patience = conversation.patience();
    const direction = responseDirection(this.#response);
    const { signal } = patience;
    const passage = new Passage({ conversation, exchange, direction, attributes, failOpen: false, signal });
    try {
      await passage.run();
      this.#tell(passage.changes.join(', ') || 'nothing changed', 'info');
      return null;
    } catch (error) {
      conversation.cancel('the response was not let pass');
      if (patience.refusal !== null) return this.#fail(patience.refusal);
      if (error instanceof BodyCut)
        return this.#fail(refuse(502, 'UpstreamFailure', `response body was cut: ${error.message}`));
      if (error instanceof Ended) return this.notPassed(error);
      throw error;
    } finally {
      patience.release();
    }
  }

  /** The service has answered by itself, or has failed. */
  notPassed(ended: Ended): Refusal | null {
    this.#conversation.skipped = true;
    if (ended.immediate === null) return this.#fail(failed(ended));
    const answer = immediateAnswer(ended.immediate, this.#exchange.request);
    if (answer.kind === 'refusal') {
      this.#tell(`direct response with status ${answer.refusal.status}`, 'warn');
      return answer.refusal;
    }
    this.#tell(`direct response with status ${answer.response.status}`, 'info');
    // Instead of what the gateway would have said of a request that was cut.
    if (!this.#exchange.answeredByUpstream) return refusalOf(answer.response);
    this.#response.body.cancel();
    Object.assign(this.#response, answer.response);
    return null;
  }

  #fail(refusal: Refusal): Refusal {
    this.#tell(`failed: ${refusal.message}`, 'error');
    return refusal;
  }

  #tell(what: string, severity: 'info' | 'warn' | 'error'): void {
    const { trace } = this.#exchange;
    const details = `response: ${what} (from ${this.#context.source})`;
    if (trace !== null) trace.applied(KIND, details, severity, this.#startedAt);
  }
}
