import type { JsonObject, JsonValue } from '../../../../src/shared/json.ts';
import type { ParameterPlan } from './plan.ts';
import type { Misfit } from './request.ts';
import { encode, hasMembers, innerText, textOf } from './values.ts';

const SEPARATORS: Partial<Record<ParameterPlan['style'], string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

/** With its question mark, where there is something. */
export function writeQuery(plans: readonly ParameterPlan[], given: JsonObject): string | Misfit {
  const pairs: string[] = [];
  for (const plan of plans) {
    const value = Object.hasOwn(given, plan.name) ? given[plan.name] : undefined;
    if (value === undefined && plan.required)
      return { kind: 'misfit', problem: `the query parameter \`${plan.name}\` is missing` };
    if (value !== undefined) pairs.push(...queryPairs(plan, value));
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** `key=value`, escaped. */
export function queryPairs(plan: ParameterPlan, value: JsonValue): readonly string[] {
  const { name, style, explode } = plan;
  if (value === null) return [encode(name)];
  if (style === 'deepObject') return deepPairs(name, value);
  const separator = SEPARATORS[style] ?? ',';
  if (Array.isArray(value)) {
    const items = value.filter((each) => each !== null).map(innerText);
    return explode ? items.map((each) => pair(name, each)) : [pair(name, items.join(separator))];
  }
  if (!hasMembers(value)) return [pair(name, innerText(value))];
  const members = Object.entries(value).filter(([, each]) => each !== null);
  if (explode) return members.map(([member, each]) => pair(member, innerText(each)));
  const parts = members.flatMap(([member, each]) => [member, innerText(each)]);
  return parts.length === 0 ? [] : [pair(name, parts.join(separator))];
}

/** OpenAPI says nothing of lists in there, nor of objects in objects: they are written as most servers read them. */
function deepPairs(name: string, value: JsonValue): readonly string[] {
  if (Array.isArray(value)) {
    const flat = value.every((each) => textOf(each) !== null);
    return value.flatMap((each, index) => deepPairs(`${name}[${flat ? '' : index}]`, each));
  }
  if (hasMembers(value))
    return Object.entries(value).flatMap(([member, each]) => deepPairs(`${name}[${member}]`, each));
  const text = textOf(value);
  return text === null ? [] : [pair(name, text)];
}

export function pair(name: string, value: string): string {
  return `${encode(name)}=${encode(value)}`;
}
