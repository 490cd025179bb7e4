import type { A2aFacts } from '../../exchange/a2a-facts.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/shared/json.ts';

/** Agents are not trusted to write short words. */
const MAX_CHARACTERS = 128;

/** Members of a result that say what it is. */
const KINDS: readonly (readonly [member: string, kind: string])[] = [
  ['task', 'task'],
  ['message', 'message'],
  ['statusUpdate', 'status-update'],
  ['artifactUpdate', 'artifact-update'],
];

/** Notes what an answer, or one event of it, tells. `failed`: its status is none of success. */
export function note(facts: A2aFacts, answer: JsonValue, failed = false): void {
  if (!isJsonObject(answer)) {
    facts.outcome ??= 'unknown';
    return;
  }
  if (failed || (answer.error !== undefined && answer.error !== null)) {
    facts.outcome = 'error';
    facts.errorCode = codeOf(answer.error) ?? codeOf(answer) ?? facts.errorCode;
    return;
  }
  const result = facts.binding === 'http' ? answer : answer.result;
  if (result === undefined) {
    facts.outcome ??= 'unknown';
    return;
  }
  facts.outcome = 'success';
  if (isJsonObject(result)) noteResult(facts, result);
}

function codeOf(error: JsonValue | undefined): number | string | null {
  const code = isJsonObject(error) ? error.code : undefined;
  return typeof code === 'number' ? code : short(code);
}

function noteResult(facts: A2aFacts, result: JsonObject): void {
  const found = KINDS.find(([member]) => isJsonObject(result[member]));
  const inner = found === undefined ? result : result[found[0]];
  if (!isJsonObject(inner)) return;
  const status = isJsonObject(inner.status) ? inner.status : null;
  // A task that was asked for comes as it is.
  const bare = status !== null && inner.id !== undefined ? 'task' : null;
  facts.resultKind = short(result.kind) ?? found?.[1] ?? bare ?? facts.resultKind;
  facts.taskId = short(inner.taskId) ?? (status === null ? null : short(inner.id)) ?? facts.taskId;
  facts.taskState = short(status?.state) ?? facts.taskState;
  facts.contextId = short(inner.contextId) ?? facts.contextId;
}

function short(value: JsonValue | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_CHARACTERS) : null;
}
