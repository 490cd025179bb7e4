import type { Variable } from '../../src/cel/compile/host.ts';
import type { EvalContext } from './contract.ts';

export interface UnknownField {
  /** What lacks the field: names from the variable down. */
  readonly owner: string;
  readonly field: string;
  /** What there is. */
  readonly fields: readonly string[];
}

/** The first field of a path that a variable never has; null where all may be there. */
export function unknownField(
  name: string,
  { fields, inner = {} }: Pick<Variable<EvalContext>, 'fields' | 'inner'>,
  [first, second]: readonly string[],
): UnknownField | null {
  if (fields === undefined || first === undefined) return null;
  if (!fields.includes(first)) return { owner: name, field: first, fields };
  const below = Object.hasOwn(inner, first) ? inner[first] : undefined;
  if (below === undefined || second === undefined || below.includes(second)) return null;
  return { owner: `${name}.${first}`, field: second, fields: below };
}
