import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Naming } from '../naming.ts';

/** Says which task a message belongs to (2025-11-25). */
const related = 'io.modelcontextprotocol/related-task';

/** `value` with the member replaced; itself when nothing changes. */
export function withMember(value: JsonObject, key: string, member: JsonValue): JsonObject {
  return value[key] === member ? value : { ...value, [key]: member };
}

/** Changes a member that is an object; `change` returns its argument for no change. */
export function inMember(value: JsonObject, key: string, change: (member: JsonObject) => JsonObject): JsonObject {
  const member = value[key];
  return isJsonObject(member) ? withMember(value, key, change(member)) : value;
}

/** Changes a member that is text. */
export function textMember(value: JsonObject, key: string, change: (text: string) => string): JsonObject {
  const member = value[key];
  return typeof member === 'string' ? withMember(value, key, change(member)) : value;
}

/** Changes the objects in a member that is a list; copies only what changes. */
export function eachOf(value: JsonObject, key: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const list = value[key];
  if (!Array.isArray(list)) return value;
  let copy: JsonValue[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const item: JsonValue = list[i] ?? null;
    const next = isJsonObject(item) ? change(item) : item;
    if (next === item) continue;
    copy ??= list.slice();
    copy[i] = next;
  }
  return copy === null ? value : { ...value, [key]: copy };
}

/** The task that a message of a target belongs to, as clients know it. */
export function relatedOut(naming: Naming, target: number, message: JsonObject): JsonObject {
  return inRelated(message, (id) => naming.taskOut(target, id));
}

/** The other way, for what a client sends to that target. */
export function relatedIn(naming: Naming, target: number, message: JsonObject): JsonObject {
  return inRelated(message, (id) => {
    const owned = naming.taskIn(id);
    return owned !== null && owned.target === target ? owned.name : id;
  });
}

function inRelated(message: JsonObject, change: (id: string) => string): JsonObject {
  const meta = message['_meta'];
  if (!isJsonObject(meta) || !isJsonObject(meta[related])) return message;
  return withMember(
    message,
    '_meta',
    inMember(meta, related, (task) => textMember(task, 'taskId', change)),
  );
}
