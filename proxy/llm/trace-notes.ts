import type { Recorder } from '../telemetry/recorder.ts';
import { badRequest } from './failure.ts';
import type { BodyTranslation, Notes, Translation } from './translations/contract.ts';

interface Dropped {
  readonly path: string;
  readonly shown: string;
}

/** Gathers what a translation could not carry over, for the trace, and for those who want such requests refused. */
export class TraceNotes implements Notes {
  readonly #trace: Recorder | null;
  readonly #dropped: Dropped[] = [];
  readonly #renamed: { readonly from: string; readonly to: string }[] = [];
  readonly #added: string[] = [];

  constructor(trace: Recorder | null) {
    this.#trace = trace;
  }

  dropped(path: string, why?: string): void {
    this.#dropped.push({ path, shown: why === undefined ? path : `${path} (${why})` });
  }

  renamed(path: string, to: string): void {
    if (this.#trace !== null) this.#renamed.push({ from: path, to });
  }

  added(path: string): void {
    if (this.#trace !== null) this.#added.push(path);
  }

  /**
   * Tells the trace. Throws an `LlmFailure` when something was dropped that must not be: a client is refused for what it has
   * sent (`isClients`, by the field of the body), not for what the configuration has written into its request.
   */
  settle(
    { from, to }: Translation | BodyTranslation,
    { onUnsupported, isClients }: { readonly onUnsupported: 'warn' | 'reject'; isClients(field: string): boolean },
  ): void {
    if (onUnsupported === 'reject' && this.#dropped.length > 0) {
      const refused = this.#dropped.filter(({ path }) => isClients(fieldOf(path)));
      if (refused.length > 0)
        throw badRequest(`unsupported conversion: ${to} cannot carry ${refused.map(({ shown }) => shown).join(', ')}`);
    }
    const trace = this.#trace;
    if (trace === null) return;
    const dropped = this.#dropped.map(({ shown }) => shown);
    const details = {
      from,
      to,
      ...(dropped.length > 0 ? { dropped } : {}),
      ...(this.#renamed.length > 0 ? { renamed: this.#renamed } : {}),
      ...(this.#added.length > 0 ? { added: this.#added } : {}),
    };
    trace.emit({ type: 'policyEvent', kind: 'llm_translation', details }, dropped.length > 0 ? 'warn' : 'info');
  }
}

/** The field of the body that a path begins with. */
function fieldOf(path: string): string {
  const end = path.search(/[.[]/);
  return end === -1 ? path : path.slice(0, end);
}
