import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Plan } from '../plan.ts';
import type { Answer } from '../calls/gather.ts';

const greeting =
  'Several MCP servers are reached here as one. Tools, prompts and resources carry the name of the server that they belong to.';

/**
 * What a federation says it can do: lists always, as any target may get some later; what only some targets have, such as
 * completions, when one of them has it.
 */
export function capabilities(plan: Plan, answers: readonly Answer[]): JsonObject {
  const extras: Record<string, JsonValue> = {};
  for (const name of ['logging', 'completions', 'tasks']) {
    const merged = union(answers.map(({ result }) => member(member(result, 'capabilities'), name)));
    if (merged !== null) extras[name] = merged;
  }
  for (const name of ['extensions', 'experimental']) {
    const merged = named(answers.map(({ result }) => member(member(result, 'capabilities'), name)));
    if (merged !== null) extras[name] = merged;
  }
  return {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: plan.stateful ? { listChanged: true, subscribe: true } : { listChanged: true },
    ...extras,
  };
}

/** What targets tell the model about themselves, each under its name. */
export function instructions(plan: Plan, answers: readonly Answer[]): string {
  let text = greeting;
  for (const { target, result } of answers) {
    const own = result['instructions'];
    if (typeof own === 'string' && own !== '') text += `\n\n[${plan.targets[target]?.name ?? ''}]\n${own}`;
  }
  return text;
}

/** Extensions by name: settings are kept where everybody who has the extension agrees on them. */
function named(all: readonly (JsonObject | null)[]): JsonObject | null {
  const merged = new Map<string, JsonValue>();
  for (const one of all) {
    if (one === null) continue;
    for (const [name, settings] of Object.entries(one)) {
      const before = merged.get(name);
      const agreed = before === undefined || JSON.stringify(before) === JSON.stringify(settings);
      merged.set(name, agreed ? settings : {});
    }
  }
  return merged.size === 0 ? null : Object.fromEntries(merged);
}

/** Whatever one of them can do: a request that its target does not know gets that target's error. */
function union(all: readonly (JsonObject | null)[]): JsonObject | null {
  let merged: JsonObject | null = null;
  for (const one of all) if (one !== null) merged = merged === null ? one : joined(merged, one);
  return merged;
}

function joined(a: JsonObject, b: JsonObject): JsonObject {
  const both: Record<string, JsonValue> = { ...a };
  for (const [name, value] of Object.entries(b)) {
    const before = both[name];
    both[name] = isJsonObject(before) && isJsonObject(value) ? joined(before, value) : value;
  }
  return both;
}

function member(value: JsonObject | null, name: string): JsonObject | null {
  const found = value?.[name];
  return isJsonObject(found) ? found : null;
}
