import type { Recorder } from '../telemetry/recorder.ts';
import { badRequest } from './failure.ts';
import type { BodyTranslation, Notes, Translation } from './translations/contract.ts';

/** Gathers what a translation could not carry over, for the trace, and for those who want such requests refused. */
export class TraceNotes implements Notes {
  readonly #trace: Recorder | null;
  readonly #dropped: string[] = [];
  readonly #renamed: { readonly from: string; readonly to: string }[] = [];
  readonly #added: string[] = [];

  constructor(trace: Recorder | null) {
    this.#trace = trace;
  }

  dropped(path: string, why?: string): void {
    this.#dropped.push(why === undefined ? path : `${path} (${why})`);
  }

  renamed(path: string, to: string): void {
    if (this.#trace !== null) this.#renamed.push({ from: path, to });
  }

  added(path: string): void {
    if (this.#trace !== null) this.#added.push(path);
  }

  /** Tells the trace. Throws an `LlmFailure` when something was dropped that must not be. */
  settle(onUnsupported: 'warn' | 'reject', { from, to }: Translation | BodyTranslation): void {
    if (onUnsupported === 'reject' && this.#dropped.length > 0)
      throw badRequest(`unsupported conversion: ${to} cannot carry ${this.#dropped.join(', ')}`);
    const trace = this.#trace;
    if (trace === null) return;
    const details = {
      from,
      to,
      ...(this.#dropped.length > 0 ? { dropped: this.#dropped } : {}),
      ...(this.#renamed.length > 0 ? { renamed: this.#renamed } : {}),
      ...(this.#added.length > 0 ? { added: this.#added } : {}),
    };
    trace.emit({ type: 'policyEvent', kind: 'llm_translation', details }, this.#dropped.length > 0 ? 'warn' : 'info');
  }
}
