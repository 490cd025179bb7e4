import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import type { RemoteRateLimit } from '../../../src/config/ir/policy/remote-rate-limit.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Patience } from '../../exchange/patience.ts';
import { refuse } from '../../exchange/refusal.ts';
import { clientLeft } from '../../exchange/wait.ts';
import { type CallOptions, type ServiceClient, ServiceError } from '../../services/contract.ts';
import {
  type RateLimitDescriptor,
  type RateLimitResponse,
  shouldRateLimitMethod,
} from '../../services/messages/rate-limit.ts';
import { compileChoice } from '../conditional.ts';
import type { Outcome, PolicyContext, RequestStep } from '../contract.ts';
import { next } from '../contract.ts';
import { ServiceOutage } from '../service-outage.ts';
import { budgetOf, carryOut } from './answer.ts';
import { compileDescriptors } from './descriptors.ts';

export const KIND = 'remote_rate_limit';
const failed: Outcome = { kind: 'fail', refusal: refuse(500, 'RateLimit', 'rate limit failed') };

/** Asks a service whether a request is within its limits. Throws a `GwError` for what can't be compiled. */
export function remoteRateLimit(choice: Choice<RemoteRateLimit>, context: PolicyContext): RequestStep {
  const sides = countsTokens(choice) ? 'both' : 'request';
  const place = { policy: 'remoteRateLimit', kind: KIND, context, sides } as const;
  const chooser = compileChoice(choice, place, (spec) => {
    const requests = spec.descriptors.filter(({ type }) => type === undefined);
    if (requests.length === 0) return null;
    const limit = new Limit(spec, context);
    const describe = compileDescriptors(requests, context.deps.expressions);
    return (exchange: Exchange) => limit.run(exchange, describe(exchange));
  });
  return (exchange) => chooser.choose(exchange)?.(exchange) ?? next;
}

/** Whether some descriptor counts tokens of language models. */
export function countsTokens({ entries }: Choice<RemoteRateLimit>): boolean {
  return entries.some(({ settings }) => settings.descriptors.some(({ type }) => type === 'tokens'));
}

/** One service with its limits. */
export class Limit {
  readonly #domain: string;
  readonly #failOpen: boolean;
  readonly #context: PolicyContext;
  readonly #client: ServiceClient;
  readonly outage: ServiceOutage;

  constructor(spec: RemoteRateLimit, context: PolicyContext) {
    const { deps, source } = context;
    this.#domain = spec.domain;
    this.#failOpen = spec.failureMode === 'failOpen';
    this.#context = context;
    this.#client = deps.services.open(spec.service, 'RateLimit');
    shouldRateLimitMethod.prepare();
    this.outage = new ServiceOutage(deps.log.scope('rate_limit'), deps.clock, { from: source });
  }

  /** A promise only when the service is asked. */
  run(exchange: Exchange, descriptors: readonly RateLimitDescriptor[]): Outcome | Promise<Outcome> {
    if (descriptors.length > 0) return this.ask(exchange, descriptors);
    if (exchange.trace !== null) exchange.trace.skipped(KIND, `no descriptor has its values${this.#from}`);
    return next;
  }

  /** May the request pass? */
  async ask(exchange: Exchange, descriptors: readonly RateLimitDescriptor[]): Promise<Outcome> {
    if (exchange.clientGone) return { kind: 'fail', refusal: clientLeft };
    const startedAt = exchange.trace?.now() ?? null;
    const patience = new Patience(exchange, this.#context.deps.clock);
    const trace = exchange.trace?.scoped('rate_limit') ?? null;
    try {
      const options = { timeoutMs: null, signal: patience.signal, trace, spans: exchange.spans };
      const response = await this.call(descriptors, options);
      this.outage.answered();
      if (exchange.trace !== null) this.#tell(exchange, response, startedAt);
      return carryOut(response, exchange);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (patience.refusal === null) return this.#unanswered(exchange, error, startedAt);
      exchange.trace?.applied(KIND, `${patience.refusal.message}${this.#from}`, 'error', startedAt);
      return { kind: 'fail', refusal: patience.refusal };
    } finally {
      patience.release();
    }
  }

  /** Throws a `ServiceError`. */
  call(descriptors: readonly RateLimitDescriptor[], options: CallOptions): Promise<RateLimitResponse> {
    const message = { domain: this.#domain, descriptors, hitsAddend: 0 };
    return this.#client.unary(shouldRateLimitMethod, message, options);
  }

  #unanswered({ trace }: Exchange, error: ServiceError, startedAt: number | null): Outcome {
    this.outage.failed(error);
    const what = `the service gave no answer: ${error.message}${this.#from}`;
    const details = `${this.#failOpen ? 'let pass' : 'refused with 500'}: ${what}`;
    trace?.applied(KIND, details, this.#failOpen ? 'warn' : 'error', startedAt);
    return this.#failOpen ? next : failed;
  }

  #tell({ trace }: Exchange, response: RateLimitResponse, startedAt: number | null): void {
    const ok = response.overallCode === 'OK';
    const budget = budgetOf(response.statuses ?? []);
    const left =
      budget === null ? '' : `, ${budget.remaining} of ${budget.limit} left, reset in ${budget.resetSeconds}s`;
    trace?.applied(KIND, `${ok ? 'within' : 'over'} the limit${left}${this.#from}`, ok ? 'info' : 'error', startedAt);
  }

  get #from(): string {
    return ` (from ${this.#context.source})`;
  }
}
