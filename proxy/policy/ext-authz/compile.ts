import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import type { ExtAuthz } from '../../../src/config/ir/policy/ext-authz.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { bodyRefusal, Patience } from '../../exchange/patience.ts';
import { peekBody } from '../../exchange/peek.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { clientLeft } from '../../exchange/wait.ts';
import type { ServiceError } from '../../services/contract.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { Decider } from './decider.ts';
import { carryOut, type Decision } from './decision.ts';
import type { SentBody } from './question.ts';

const bodyTooLarge = refuse(413, 'ExtAuth', 'request body exceeds the limit of external authorization');

/** Asks a service whether a request may pass. Throws a `GwError` for what can't be compiled. */
export function extAuthz(choice: Choice<ExtAuthz>, context: PolicyContext): RequestStep {
  const place = { policy: 'extAuthz', kind: 'ext_auth', context, sides: 'request' } as const;
  const chooser = compileChoice(choice, place, (spec) => new Check(spec, context));
  return (exchange) => chooser.choose(exchange)?.run(exchange) ?? next;
}

/** The check of one request by one set of settings. */
class Check {
  readonly #body: ExtAuthz['includeRequestBody'];
  readonly #decider: Decider;
  readonly #context: PolicyContext;
  /** For requests that could not be asked about; null lets them pass. */
  readonly #failure: Refusal | null;

  constructor(spec: ExtAuthz, context: PolicyContext) {
    this.#body = spec.includeRequestBody;
    this.#context = context;
    this.#decider = new Decider(spec, context);
    this.#failure = failureRefusal(spec.failure);
  }

  /** A promise only when the service is asked. */
  run(exchange: Exchange): Outcome | Promise<Outcome> {
    const remembered = this.#decider.recall(exchange);
    if (remembered.kind === 'ask') return this.#ask(exchange, remembered.key);
    const { decision } = remembered;
    if (exchange.trace !== null) this.#tell(exchange, decision, { by: 'cache', startedAt: null });
    return carryOut(decision, exchange);
  }

  async #ask(exchange: Exchange, key: string | null): Promise<Outcome> {
    if (exchange.clientGone) return this.#forgo(key, clientLeft);
    const startedAt = exchange.trace?.now() ?? null;
    const patience = new Patience(exchange, this.#context.deps.clock);
    try {
      const body = await this.#sentBody(exchange, patience);
      if (body !== null && 'status' in body) return this.#forgo(key, body, { exchange, startedAt });
      let outcome: Outcome = next;
      const decided = await this.#decider.ask(
        { context: exchange, request: exchange.request, startedAt: exchange.startedAt, body },
        {
          key,
          carryOut: (decision) => (outcome = carryOut(decision, exchange)),
          signal: patience.signal,
          trace: exchange.trace?.scoped('ext_authz') ?? null,
          spans: exchange.spans,
        },
      );
      if (decided.kind === 'failed') return this.#failed(exchange, decided.error, { patience, startedAt });
      if (exchange.trace !== null) this.#tell(exchange, decided.decision, { by: decided.by, startedAt });
      return outcome;
    } finally {
      patience.release();
    }
  }

  /** What is sent of the body, which goes on whole; a refusal when that is not possible. */
  async #sentBody(exchange: Exchange, patience: Patience): Promise<SentBody | Refusal | null> {
    const { request } = exchange;
    const spec = this.#body;
    // What follows the head of an upgrade is no body.
    if (spec === undefined || request.upgrade !== null || request.method === 'CONNECT') return null;
    if (!spec.allowPartial && (request.body.length ?? 0) > spec.maxBytes) return bodyTooLarge;
    const peeked = await peekBody(request.body, spec.maxBytes, patience.signal);
    if (peeked.kind === 'failed') return bodyRefusal(peeked.error, patience);
    request.body = peeked.body;
    return peeked.whole || spec.allowPartial ? peeked : bodyTooLarge;
  }

  /** The request is refused before anybody was asked. */
  #forgo(
    key: string | null,
    refusal: Refusal,
    told: { readonly exchange: Exchange; readonly startedAt: number | null } | null = null,
  ): Outcome {
    this.#decider.forgo(key);
    told?.exchange.trace?.applied(
      'ext_auth',
      `${refusal.message} (from ${this.#context.source})`,
      'error',
      told.startedAt,
    );
    return { kind: 'fail', refusal };
  }

  #failed(
    { trace }: Exchange,
    error: ServiceError,
    { patience, startedAt }: { readonly patience: Patience; readonly startedAt: number | null },
  ): Outcome {
    const { source } = this.#context;
    if (patience.refusal !== null) {
      trace?.applied('ext_auth', `${patience.refusal.message} (from ${source})`, 'error', startedAt);
      return { kind: 'fail', refusal: patience.refusal };
    }
    const refusal = this.#failure;
    const what = `the service gave no answer: ${error.message} (from ${source})`;
    if (refusal === null) {
      trace?.emit({ type: 'policyEvent', kind: 'ext_auth', details: `let pass: ${what}` }, 'warn', startedAt);
      return next;
    }
    trace?.applied('ext_auth', `denied with ${refusal.status}: ${what}`, 'error', startedAt);
    return { kind: 'fail', refusal };
  }

  /** Neither headers nor claims: what a service adds may be a credential. */
  #tell({ trace }: Exchange, decision: Decision, { by, startedAt }: Telling): void {
    const answer = decision.kind === 'allowed' ? 'allowed' : `denied with ${decision.refusal.status}`;
    const details = `${answer}${by === 'cache' ? ', from the cache' : ''} (from ${this.#context.source})`;
    trace?.applied('ext_auth', details, decision.kind === 'allowed' ? 'info' : 'error', startedAt);
  }
}

interface Telling {
  readonly by: 'cache' | 'service';
  readonly startedAt: number | null;
}

function failureRefusal(failure: ExtAuthz['failure']): Refusal | null {
  if (failure === 'allow') return null;
  const { denyWithStatus } = failure;
  return refuse(
    denyWithStatus,
    'ExtAuth',
    denyWithStatus === 403 ? 'external authorization failed' : 'Authorization service unavailable',
  );
}
