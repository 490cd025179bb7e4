import type { Choice } from '../../src/config/ir/policy/conditional.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Expression } from '../expression/contract.ts';
import type { PolicyContext } from './contract.ts';

/** Chooses between compiled settings. */
export interface Chooser<T> {
  /** Every set of settings, in order. */
  readonly all: readonly T[];
  /**
   * The first whose condition is true on this request; null when there is none. To be called once, on the request: the
   * response side asks `chosen`. A policy without conditions tells nothing.
   */
  choose(exchange: Exchange): T | null;
  /** What `choose` has chosen on the request; null also when the request never came that far. Only with `sides: 'both'`. */
  chosen(exchange: Exchange): T | null;
}

export interface ChoicePlace {
  /** The key of the configuration, for errors: `extAuthz`. */
  readonly policy: string;
  /** The kind in traces: `ext_auth`. */
  readonly kind: string;
  readonly context: PolicyContext;
  /** Whether there is a response side that asks for what was chosen; remembering costs a little. */
  readonly sides: 'request' | 'both';
}

interface Entry<T> {
  readonly condition: Expression | null;
  readonly settings: T;
  /** For traces. */
  readonly met: string;
  readonly notMet: string;
}

/**
 * Compiles a choice. Both sides of one policy may compile the same `choice` object, each for its own part: the request
 * side chooses, the response side recalls the choice. Throws a `GwError` for a condition that is no expression.
 */
export function compileChoice<Spec, T>(
  choice: Choice<Spec>,
  { policy, kind, context, sides }: ChoicePlace,
  compile: (settings: Spec, index: number) => T,
): Chooser<T> {
  const { deps, source } = context;
  const entries = choice.entries.map(({ condition, settings }, index): Entry<T> => {
    const place = `conditional[${index}]`;
    return {
      condition: condition === undefined ? null : deps.expressions.compile(condition, `${policy} ${place}.condition`),
      settings: compile(settings, index),
      met:
        condition === undefined
          ? `${place} is the fallback (from ${source})`
          : `condition of ${place} holds (from ${source})`,
      notMet: `condition of ${place} does not hold (from ${source})`,
    };
  });
  const all = entries.map((entry) => entry.settings);
  const remember = (exchange: Exchange, at: number): void => {
    if (sides === 'both') exchange.remember(choice, at);
  };
  const chosen = (exchange: Exchange): T | null => recalled(exchange, choice, all);
  const [first] = entries;
  if (entries.length === 1 && first?.condition === null) {
    const choose = (exchange: Exchange): T => {
      remember(exchange, 0);
      return first.settings;
    };
    return { all, choose, chosen };
  }
  const choose = (exchange: Exchange): T | null => {
    const at = firstThatHolds(entries, exchange, kind);
    remember(exchange, at);
    return all[at] ?? null;
  };
  return { all, choose, chosen };
}

function recalled<T>(exchange: Exchange, choice: Choice<unknown>, all: readonly T[]): T | null {
  const at = exchange.recall(choice);
  return typeof at === 'number' ? (all[at] ?? null) : null;
}

/** Its position; −1 when none holds. */
function firstThatHolds(entries: readonly Entry<unknown>[], exchange: Exchange, kind: string): number {
  const { trace } = exchange;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i];
    if (entry === undefined) break;
    const holds = entry.condition === null || entry.condition.isTrue(exchange);
    if (trace !== null) trace.emit({ type: 'policyEvent', kind, details: holds ? entry.met : entry.notMet });
    if (holds) return i;
  }
  if (trace !== null) trace.skipped(kind, 'no condition holds');
  return -1;
}
