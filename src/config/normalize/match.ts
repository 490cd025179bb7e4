import type { ValueMatch } from '../ir/route.ts';
import type { ValueMatchSpec } from '../schema/match.ts';

/** How a value is compared. */
export function valueMatch(spec: ValueMatchSpec): ValueMatch['value'] {
  return spec.regex === undefined ? { kind: 'exact', value: spec.exact ?? '' } : { kind: 'regex', value: spec.regex };
}

/** Headers that all have to match, their names in lower case. */
export function headerMatches(
  specs: readonly { readonly name: string; readonly value: ValueMatchSpec }[],
): readonly ValueMatch[] {
  return specs.map(({ name, value }) => ({ name: name.toLowerCase(), value: valueMatch(value) }));
}
