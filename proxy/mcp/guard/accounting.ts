import type { Exchange } from '../../exchange/exchange.ts';
import type { PolicyContext } from '../../policy/contract.ts';
import type { Phase } from './methods.ts';

export type Action = 'Allow' | 'Mask' | 'Reject' | 'FailOpen';

/** Whose decision about what is recorded. */
export interface Decided {
  readonly exchange: Exchange;
  readonly phase: Phase;
  readonly method: string;
  /** Name of the service. */
  readonly processor: string;
  /** When it was asked, as the trace counts. */
  readonly startedAt: number | null;
}

const SAID = { Allow: 'allowed', Mask: 'changed', Reject: 'rejected', FailOpen: 'let pass without a verdict' } as const;
const SEVERITIES = { Allow: 'info', Mask: 'warn', Reject: 'error', FailOpen: 'warn' } as const;

/** Counts what processors decide, and tells it to whoever watches; never what a call says. */
export class Accounting {
  readonly #context: PolicyContext;

  constructor(context: PolicyContext) {
    this.#context = context;
  }

  record(action: Action, what: string, decided: Decided): void {
    const phase = decided.phase === 'request' ? 'Request' : 'Response';
    this.#context.deps.metrics?.counter('guardrailChecks', [phase, action]).add(1);
    const { trace } = decided.exchange;
    if (trace === null) return;
    trace.applied('guardrail', this.#told(SAID[action], what, decided), SEVERITIES[action], decided.startedAt);
  }

  /** There was no verdict, and nothing passes without one. */
  failed(what: string, decided: Decided): void {
    const { trace } = decided.exchange;
    if (trace === null) return;
    trace.applied('guardrail', this.#told('gave no verdict', what, decided), 'error', decided.startedAt);
  }

  #told(said: string, what: string, { phase, method, processor }: Decided): string {
    const { source } = this.#context;
    const why = what === '' ? '' : `: ${what}`;
    return `${phase} ${method}: ${said} by ${processor}${why}${source === '' ? '' : ` (from ${source})`}`;
  }
}
