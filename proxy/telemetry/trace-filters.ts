import type { EvalContext, Expression } from '../expression/contract.ts';

/** When an expression can be evaluated: as the request arrives, or once it is over. */
export type FilterMoment = 'arrival' | 'end';

/** Who watches only requests for which an expression is true. */
export interface TraceFilter {
  /** Never used again for another one. */
  readonly id: number;
  readonly expression: string;
  readonly moment: FilterMoment;
  /** Whoever asked gets every such request, not only the next. */
  readonly follow: boolean;
}

/** All filters of the moment, and what their expressions are compiled with; plain data for data threads. */
export interface TraceFilterSet {
  readonly filters: readonly TraceFilter[];
  readonly customFunctions?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

interface Compiled extends TraceFilter {
  readonly compiled: Expression;
}

const NONE: ReadonlySet<number> = new Set();

/** The filters that a data thread knows. */
export class TraceFilters {
  #filters: readonly Compiled[] = [];

  /** The engine of expressions is loaded with the first filter. */
  async replace({ filters, customFunctions, env }: TraceFilterSet): Promise<void> {
    if (filters.length === 0) {
      this.#filters = [];
      return;
    }
    const { createExpressions } = await import('../expression/expressions.ts');
    const expressions = createExpressions({ customFunctions, env });
    this.#filters = filters.map((filter) => ({ ...filter, compiled: expressions.compile(filter.expression, 'trace') }));
  }

  /** There are some that are decided when a request is over. */
  get someWait(): boolean {
    return this.#filters.some(({ moment }) => moment === 'end');
  }

  /** Ids of the filters that a request passes as it arrives. */
  passedBy(arrival: (() => EvalContext) | undefined): ReadonlySet<number> {
    if (arrival === undefined || !this.#filters.some(({ moment }) => moment === 'arrival')) return NONE;
    return this.#passed('arrival', arrival());
  }

  /** Ids of those that a request passes by what is known of it in the end. */
  passedInTheEnd(context: EvalContext): ReadonlySet<number> {
    return this.#passed('end', context);
  }

  /** Those of them whose watchers get every such request. */
  followed(passed: ReadonlySet<number>): readonly number[] {
    if (passed.size === 0) return [];
    return this.#filters.filter(({ id, follow }) => follow && passed.has(id)).map(({ id }) => id);
  }

  #passed(moment: FilterMoment, context: EvalContext): ReadonlySet<number> {
    const passed = this.#filters.filter((filter) => filter.moment === moment && filter.compiled.isTrue(context));
    return new Set(passed.map(({ id }) => id));
  }
}
