import type { LlmModel } from '../../../src/config/ir/index.ts';
import { isNamedBy, isPattern } from '../../../src/config/model-pattern.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Expressions } from '../../expression/contract.ts';
import { RuleSet } from '../../policy/authorization/rules.ts';
import { compileConditions, headerHolds, type NamedTest } from '../../routing/condition.ts';

/** A model with what serves it. */
export interface Entry<T> {
  readonly model: LlmModel;
  readonly target: T;
  /** Position in the order in which entries are tried. */
  readonly rank: number;
  /** Header matches, one of which has to hold. */
  readonly matches: readonly (readonly NamedTest[])[];
  readonly rules: RuleSet | null;
}

export type Found<T> =
  | { readonly kind: 'found'; readonly entry: Entry<T> }
  | { readonly kind: 'denied' }
  | { readonly kind: 'unknown' };

/** Finds models by name. `entries` are in the order in which they are tried. Throws a `GwError` for what cannot be compiled. */
export class ModelTable<T> {
  readonly entries: readonly Entry<T>[];
  readonly #exact = new Map<string, Entry<T>[]>();
  readonly #patterns: readonly Entry<T>[];

  constructor(models: readonly { readonly model: LlmModel; readonly target: T }[], expressions: Expressions) {
    this.entries = models.map(({ model, target }, rank) => ({
      model,
      target,
      rank,
      matches: model.matches.map((headers) => conditions(model.name, headers)),
      rules:
        model.authorization === undefined || model.authorization.rules.length === 0
          ? null
          : new RuleSet(model.authorization.rules, expressions, `model ${model.name}`),
    }));
    for (const entry of this.entries) {
      const { name } = entry.model;
      if (isPattern(name)) continue;
      const same = this.#exact.get(name);
      if (same === undefined) this.#exact.set(name, [entry]);
      else same.push(entry);
    }
    this.#patterns = this.entries.filter(({ model }) => isPattern(model.name));
  }

  /** The first that fits the name and the request and that the caller may use; `internal` ones only for virtual models. */
  find(exchange: Exchange, name: string, { internal }: { readonly internal: boolean }): Found<T> {
    let denied = false;
    for (const entry of this.#candidates(name)) {
      if (!internal && entry.model.visibility !== 'public') continue;
      if (!headersHold(entry, exchange)) continue;
      if (isAllowed(entry, exchange)) return { kind: 'found', entry };
      denied = true;
    }
    return { kind: denied ? 'denied' : 'unknown' };
  }

  #candidates(name: string): readonly Entry<T>[] {
    const exact = this.#exact.get(name) ?? [];
    const patterns = this.#patterns.filter(({ model }) => isNamedBy(model.name, name));
    if (patterns.length === 0) return exact;
    return exact.length === 0 ? patterns : [...exact, ...patterns].toSorted((left, right) => left.rank - right.rank);
  }
}

function conditions(name: string, headers: LlmModel['matches'][number]): readonly NamedTest[] {
  const match = { path: { kind: 'pathPrefix', value: '/' }, headers, query: [] } as const;
  return compileConditions(match, `model ${name}`).headers;
}

function headersHold<T>({ matches }: Entry<T>, { request }: Exchange): boolean {
  return matches.length === 0 || matches.some((headers) => headers.every((header) => headerHolds(header, request)));
}

/** By the rules of the model itself. */
export function isAllowed<T>({ rules }: Entry<T>, exchange: Exchange): boolean {
  if (rules === null) return true;
  const { trace } = exchange;
  if (trace === null) return rules.allows(exchange);
  const outcome = rules.explain(exchange);
  const allowed = outcome.result === 'allow';
  trace.emit(outcome, allowed ? 'success' : 'error');
  return allowed;
}
