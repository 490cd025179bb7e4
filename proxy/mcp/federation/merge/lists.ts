import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { ListRules } from '../../guard/contract.ts';
import type { Answer } from '../calls/gather.ts';
import type { Plan } from '../plan.ts';
import { itemOut, uiOf, withoutUi } from '../rename/items.ts';
import type { ListRoute } from '../route.ts';

/** Lists that were cached come again: their renamed items are kept as long as they are. */
const renamed = new WeakMap<JsonObject, { readonly plan: Plan; readonly items: readonly JsonObject[] }>();

/** The items of all targets in their order, without those that the client may not see, under the client's names. */
export function mergedItems(plan: Plan, exchange: Exchange, list: ListRoute, answers: readonly Answer[]): JsonObject[] {
  const merged: JsonObject[] = [];
  const rules = plan.rules.list?.(exchange) ?? null;
  for (const answer of answers) addItems(plan, rules, list, answer, merged);
  rules?.told();
  return distinct(plan, list) ? withoutDuplicates(list, answers, merged) : merged;
}

/** Names do not tell their target: those that several have are nobody's. */
export function distinct(plan: Plan, list: ListRoute): boolean {
  return plan.naming.addresses && !plan.naming.names && list.key === 'name';
}

/** A result of a single target that keeps its names, without the items that the client may not see. */
export function permittedList(plan: Plan, exchange: Exchange, list: ListRoute, result: JsonObject): JsonObject | null {
  if (!Array.isArray(result[list.member])) return null;
  const items: JsonObject[] = [];
  const rules = plan.rules.list?.(exchange) ?? null;
  addItems(plan, rules, list, { target: 0, result }, items);
  rules?.told();
  return { ...result, [list.member]: items };
}

function addItems(plan: Plan, rules: ListRules | null, list: ListRoute, answer: Answer, into: JsonObject[]): void {
  const items = renamedItems(plan, list, answer);
  if (rules === null) {
    for (const item of items) into.push(item);
    return;
  }
  const target = plan.targets[answer.target]?.name ?? '';
  const own = objects(answer.result[list.member]);
  for (let i = 0; i < items.length; i++) {
    const name = own[i]?.[list.key];
    const item = items[i];
    if (item === undefined || typeof name !== 'string') continue;
    if (!rules.allows({ kind: list.item, name, target })) continue;
    const ui = list.member === 'tools' ? uiOf(own[i] ?? {}) : null;
    const shown = ui === null || rules.allows({ kind: 'resource', name: ui, target });
    into.push(shown ? item : withoutUi(item));
  }
}

function renamedItems(plan: Plan, list: ListRoute, answer: Answer): readonly JsonObject[] {
  const own = objects(answer.result[list.member]);
  if (!plan.naming.addresses) return own;
  const known = renamed.get(answer.result);
  if (known !== undefined && known.plan === plan) return known.items;
  const items = own.map((item) => itemOut(plan.naming, answer.target, list, item));
  renamed.set(answer.result, { plan, items });
  return items;
}

/** Counts what targets have, whether or not the client may see it: what it may see must not depend on its rights. */
function withoutDuplicates(list: ListRoute, answers: readonly Answer[], merged: readonly JsonObject[]): JsonObject[] {
  const owners = new Map<JsonValue | undefined, number>();
  const several = new Set<JsonValue | undefined>();
  for (const { target, result } of answers) {
    for (const item of objects(result[list.member])) {
      const name = item[list.key];
      const owner = owners.get(name);
      if (owner === undefined) owners.set(name, target);
      else if (owner !== target) several.add(name);
    }
  }
  return merged.filter((item) => !several.has(item[list.key]));
}

/** Anything else in a list of items is left out. */
function objects(value: JsonValue | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) return [];
  return value.every(isJsonObject) ? value : value.filter(isJsonObject);
}
