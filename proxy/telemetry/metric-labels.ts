import type { EvalContext, Expression, Expressions } from '../expression/contract.ts';

/** Different sets of values that one data thread counts by; what comes later is counted as `other`. */
export const MAX_LABEL_SETS = 1000;
const MAX_VALUE_LENGTH = 256;
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f]/g;
const UNKNOWN = 'unknown';
const OTHER = 'other';

/** Values of labels that expressions give, bounded in number: an expression may read what clients choose. */
export class LabelSets {
  readonly #known = new Map<string, readonly string[]>();
  readonly #other: readonly string[];

  constructor(count: number) {
    this.#other = Array.from({ length: count }, () => OTHER);
  }

  /** The one list that stands for these values. */
  bounded(values: readonly string[]): readonly string[] {
    const key = values.join('\u0000');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_LABEL_SETS) return this.#other;
    this.#known.set(key, values);
    return values;
  }
}

/** `config.metrics.fields.add`, compiled for one engine; the bounds are those of the thread. */
export class MetricLabels {
  readonly #expressions: readonly Expression[];
  readonly #sets: LabelSets;

  /** Throws a `GwError` for an expression that does not compile. */
  constructor(add: readonly (readonly [label: string, source: string])[], expressions: Expressions, sets: LabelSets) {
    this.#expressions = add.map(([label, source]) => expressions.compile(source, `metrics label ${label}`));
    this.#sets = sets;
  }

  get expressions(): readonly Expression[] {
    return this.#expressions;
  }

  /** In the order of the configuration; what fails, is null or no text is `unknown`. */
  of(context: EvalContext): readonly string[] {
    return this.#sets.bounded(
      this.#expressions.map((expression) => {
        const value = expression.text(context);
        if (value === null || value === '') return UNKNOWN;
        return value.length > MAX_VALUE_LENGTH ? OTHER : value.replaceAll(CONTROLS, ' ');
      }),
    );
  }
}
