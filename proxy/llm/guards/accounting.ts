import type { Exchange } from '../../exchange/exchange.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { Action, GuardKind, Phase } from './contract.ts';

/** Whose decision is recorded. */
export interface Decided {
  readonly exchange: Exchange;
  readonly phase: Phase;
  readonly kind: GuardKind;
  readonly audit: boolean;
  /** When the guard began, as the trace counts. */
  readonly startedAt: number | null;
}

const SAID = { Allow: 'allowed', Mask: 'masked', Reject: 'rejected', FailOpen: 'let pass without a verdict' } as const;

/** Counts what guards decide, and tells it to whoever watches: which rule or service said so, never what it found. */
export class Accounting {
  readonly #context: PolicyContext;

  constructor(context: PolicyContext) {
    this.#context = context;
  }

  record(action: Action, what: string, decided: Decided): void {
    const { metrics } = this.#context.deps;
    metrics?.counter('guardrailChecks', [decided.phase === 'request' ? 'Request' : 'Response', action]).add(1);
    const { trace } = decided.exchange;
    if (trace === null) return;
    const severity = action === 'Allow' ? 'info' : action === 'Reject' && !decided.audit ? 'error' : 'warn';
    const noted = decided.audit && action !== 'Allow' ? 'would have been ' : '';
    trace.applied('guardrail', this.#told(`${noted}${SAID[action]}`, what, decided), severity, decided.startedAt);
  }

  /** There was no verdict, and nothing passes without one. */
  failed(what: string, decided: Decided): void {
    const { trace } = decided.exchange;
    this.#context.deps.log.scope('guardrail').warn('a guard gave no verdict', { kind: decided.kind, error: what });
    trace?.applied('guardrail', this.#told('gave no verdict', what, decided), 'error', decided.startedAt);
  }

  #told(said: string, what: string, { phase, kind }: Decided): string {
    const { source } = this.#context;
    return `${phase} ${kind}: ${said}${what === '' ? '' : ` (${what})`}${source === '' ? '' : ` (from ${source})`}`;
  }
}
