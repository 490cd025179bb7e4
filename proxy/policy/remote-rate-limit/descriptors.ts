import type { RateLimitDescriptor as DescriptorSpec } from '../../../src/config/ir/policy/remote-rate-limit.ts';
import { isJsonObject, type JsonValue } from '../../exchange/attributes.ts';
import type { EvalContext, Expression, Expressions } from '../../expression/contract.ts';
import type { RateLimitDescriptor, RateLimitOverrideUnit } from '../../services/messages/rate-limit.ts';

/** Makes the descriptors of a request; those with an expression that fails are left out. */
export type Describe = (context: EvalContext) => readonly RateLimitDescriptor[];

/** Throws a `GwError` for an expression that is none. */
export function compileDescriptors(specs: readonly DescriptorSpec[], expressions: Expressions): Describe {
  const descriptors = specs.map((spec, index) => compileDescriptor(spec, expressions, `descriptors[${index}]`));
  return (context) => descriptors.flatMap((describe) => describe(context) ?? []);
}

/** A descriptor that counts tokens: its values are those of the request, what it counts is known at the end. */
export interface TokenDescriptor {
  with(hits: number): RateLimitDescriptor;
  /** Null when tokens are counted as they are; gives null where it fails. */
  readonly cost: ((context: EvalContext) => number | null) | null;
}

/** The descriptors that count tokens. Throws a `GwError` for an expression that is none. */
export function compileTokenDescriptors(
  specs: readonly DescriptorSpec[],
  expressions: Expressions,
): (context: EvalContext) => readonly TokenDescriptor[] {
  const descriptors = specs.flatMap((spec, index) => {
    if (spec.type !== 'tokens') return [];
    const { cost: source, ...rest } = spec;
    const describe = compileDescriptor(rest, expressions, `descriptors[${index}]`);
    const where = `remoteRateLimit descriptors[${index}].cost`;
    const expression = source === undefined ? null : expressions.compile(source, where);
    const cost =
      expression === null ? null : (context: EvalContext) => hitsOf(expression.integer(context))?.value ?? null;
    return [{ describe, cost }];
  });
  return (context) =>
    descriptors.flatMap(({ describe, cost }) => {
      const described = describe(context);
      return described === null
        ? []
        : [{ with: (hits: number) => ({ ...described, hitsAddend: { value: hits } }), cost }];
    });
}

function compileDescriptor(spec: DescriptorSpec, expressions: Expressions, place: string) {
  const compile = (source: string, name: string): Expression =>
    expressions.compile(source, `remoteRateLimit ${place}.${name}`);
  const entries = spec.entries.map(({ key, value }, index) => ({ key, value: compile(value, `entries[${index}]`) }));
  const cost = spec.cost === undefined ? null : compile(spec.cost, 'cost');
  const override = spec.limitOverride === undefined ? null : compile(spec.limitOverride, 'limitOverride');
  return (context: EvalContext): RateLimitDescriptor | null => {
    const values = valuesOf(entries, context);
    const hits = cost === null ? undefined : hitsOf(cost.integer(context));
    const limit = override === null ? undefined : limitOf(override.json(context));
    if (values === null || hits === null || limit === null) return null;
    return {
      entries: values,
      ...(limit === undefined ? {} : { limit }),
      ...(hits === undefined ? {} : { hitsAddend: hits }),
    };
  };
}

function valuesOf(
  entries: readonly { readonly key: string; readonly value: Expression }[],
  context: EvalContext,
): RateLimitDescriptor['entries'] | null {
  const values: { key: string; value: string }[] = [];
  for (const { key, value: expression } of entries) {
    const value = expression.scalarText(context);
    if (value === null) return null;
    values.push({ key, value });
  }
  return values;
}

function hitsOf(cost: number | null): { value: number } | null {
  return cost === null || cost < 0 ? null : { value: cost };
}

const UNITS: ReadonlyMap<string, RateLimitOverrideUnit> = new Map([
  ['second', 'SECOND'],
  ['minute', 'MINUTE'],
  ['hour', 'HOUR'],
  ['day', 'DAY'],
  ['month', 'MONTH'],
  ['year', 'YEAR'],
]);
const MAX_UINT32 = 2 ** 32 - 1;

/** Both spellings of the number are known; anything else than the two fields is passed over. */
function limitOf(value: JsonValue | undefined): RateLimitDescriptor['limit'] | null {
  if (!isJsonObject(value)) return null;
  const { unit, requestsPerUnit, requests_per_unit: snakeCase } = value;
  const number = requestsPerUnit ?? snakeCase;
  const name = typeof unit === 'string' ? UNITS.get(unit.toLowerCase()) : undefined;
  if (name === undefined || typeof number !== 'number' || !Number.isInteger(number)) return null;
  return number >= 0 && number <= MAX_UINT32 ? { requestsPerUnit: number, unit: name } : null;
}
