import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';

/** A list with changed items; the same list when none changed. */
export function mapItems(list: readonly JsonValue[], map: (item: JsonValue) => JsonValue): readonly JsonValue[] {
  let changed: JsonValue[] | null = null;
  for (let i = 0; i < list.length; i++) {
    const item = list[i] ?? null;
    const mapped = map(item);
    if (mapped === item) continue;
    changed ??= [...list];
    changed[i] = mapped;
  }
  return changed ?? list;
}

/** The objects of a list; what else is in it stays. */
export function mapObjects(value: JsonValue | undefined, map: (item: JsonObject) => JsonObject): JsonValue | undefined {
  if (!Array.isArray(value)) return value;
  return mapItems(value, (item) => (isJsonObject(item) ? map(item) : item));
}

/** An object with one field changed by `map`; the same object when it stays as it is, or is not there. */
export function mapField(
  object: JsonObject,
  name: string,
  map: (value: JsonValue) => JsonValue | undefined,
): JsonObject {
  const value = object[name];
  if (value === undefined) return object;
  const mapped = map(value);
  return mapped === value || mapped === undefined ? object : { ...object, [name]: mapped };
}

/** The same for a field that is a text. */
export function mapText(object: JsonObject, name: string, map: (text: string) => string): JsonObject {
  return mapField(object, name, (value) => (typeof value === 'string' ? map(value) : value));
}

/** The same for a field that is an object. */
export function mapObject(object: JsonObject, name: string, map: (value: JsonObject) => JsonObject): JsonObject {
  return mapField(object, name, (value) => (isJsonObject(value) ? map(value) : value));
}

/**
 * Every text in a value, however deep, and every number as it is written; those under the names in `except` stay. Throws a
 * `RangeError` for what is nested too deeply to be walked: nothing hides there.
 */
export function mapTexts(
  value: JsonValue,
  map: (text: string) => string,
  how: { readonly except?: ReadonlySet<string> } = {},
): JsonValue {
  if (typeof value === 'string') return map(value);
  if (typeof value === 'number') {
    const written = String(value);
    const mapped = map(written);
    return mapped === written ? value : mapped;
  }
  if (Array.isArray(value)) return mapItems(value, (item) => mapTexts(item, map, how));
  if (!isJsonObject(value)) return value;
  let changed: Record<string, JsonValue> | null = null;
  for (const [name, field] of Object.entries(value)) {
    if (how.except?.has(name) === true) continue;
    const mapped = mapTexts(field, map, how);
    if (mapped === field) continue;
    changed ??= { ...value };
    changed[name] = mapped;
  }
  return changed ?? value;
}

/** How the text of one part of a message is read and replaced; null for what is no text. */
export interface PartText {
  readonly text: string;
  with(text: string): JsonObject;
}

/**
 * The parts of a message: neighbouring texts are looked at as one, since words may be cut anywhere. Where it changes, the
 * last of them has all of it. `other` maps what is no text.
 */
export function mapRuns(
  parts: readonly JsonValue[],
  how: {
    readonly separator: string;
    readonly textOf: (part: JsonObject) => PartText | null;
    readonly map: (text: string) => string;
    readonly other?: (part: JsonObject) => JsonObject;
  },
): readonly JsonValue[] {
  const out: JsonValue[] = [];
  let run: { readonly part: JsonValue; readonly text: PartText }[] = [];
  let changed = false;
  const close = (): void => {
    const last = run.at(-1);
    if (last === undefined) return;
    const joined = run.map(({ text }) => text.text).join(how.separator);
    const mapped = how.map(joined);
    if (mapped === joined) out.push(...run.map(({ part }) => part));
    else {
      changed = true;
      out.push(last.text.with(mapped));
    }
    run = [];
  };
  for (const part of parts) {
    const text = isJsonObject(part) ? how.textOf(part) : null;
    if (text !== null) {
      run.push({ part, text });
      continue;
    }
    close();
    const other = isJsonObject(part) && how.other !== undefined ? how.other(part) : part;
    if (other !== part) changed = true;
    out.push(other);
  }
  close();
  return changed ? out : parts;
}

/** A part whose text is a field of its own; null where it has none. */
export function fieldText(part: JsonObject, name: string | null): PartText | null {
  if (name === null) return null;
  const text = part[name];
  return typeof text === 'string' ? { text, with: (next) => ({ ...part, [name]: next }) } : null;
}
