import { GwError } from '../shared/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../shared/json.ts';

/** What is known of one argument, from a JSON Schema. */
interface ArgumentSchema {
  readonly type?: unknown;
}

/**
 * Arguments of a call from `name=value` words: a value is read as its schema says, a list or an object as JSON; `name:=value`
 * is JSON whatever the schema says; `group.name=value` is a field of an argument that is an object. Throws a `GwError` for a
 * word that is none, and for a value of another type.
 */
export function argumentsOf(words: readonly string[], schema: JsonObject | undefined): JsonObject {
  const given: JsonObject = {};
  for (const word of words) put(given, argument(word, propertiesOf(schema)));
  return given;
}

interface Argument {
  /** From the outside in; one name, unless it is a field of an object. */
  readonly path: readonly string[];
  readonly value: JsonValue;
}

function argument(word: string, properties: JsonObject): Argument {
  const match = /^([^=]*?)(:?=)([\s\S]*)$/.exec(word);
  const [, name = '', sign, text = ''] = match ?? [];
  if (name === '')
    throw new GwError(`"${word}" is no argument: expected name=value`, { code: 'GW_MCP_ARGUMENT', exitCode: 2 });
  const { path, schema } = placeOf(name, properties);
  if (path.length === 1 && schema === undefined) refuseField(name, properties);
  return { path, value: sign === ':=' ? json(name, text) : typed(name, text, isJsonObject(schema) ? schema : {}) };
}

/** Where a name leads: an argument may have a dot in its own name. */
function placeOf(
  name: string,
  properties: JsonObject,
): { readonly path: readonly string[]; readonly schema: JsonValue | undefined } {
  const dot = name.indexOf('.');
  const group = name.slice(0, Math.max(dot, 0));
  if (Object.hasOwn(properties, name) || !Object.hasOwn(properties, group))
    return { path: [name], schema: Object.hasOwn(properties, name) ? properties[name] : undefined };
  const inner = placeOf(name.slice(dot + 1), propertiesOf(properties[group]));
  return { path: [group, ...inner.path], schema: inner.schema };
}

/** Throws for a name that only a group of arguments knows. */
function refuseField(name: string, properties: JsonObject): void {
  const groups = Object.keys(properties).filter((group) => Object.hasOwn(propertiesOf(properties[group]), name));
  if (groups.length === 0) return;
  throw new GwError(`the argument ${name} is a field of ${groups.join(' and of ')}`, {
    code: 'GW_MCP_ARGUMENT',
    exitCode: 2,
    hint: groups.map((group) => `${group}.${name}=…`).join(' or '),
  });
}

function propertiesOf(schema: JsonValue | undefined): JsonObject {
  return isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : {};
}

function put(into: JsonObject, { path, value }: Argument): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) return own(into, name, value);
  const known = Object.hasOwn(into, name) ? into[name] : undefined;
  const group = isJsonObject(known) ? known : {};
  own(into, name, group);
  put(group, { path: rest, value });
}

/** `__proto__` is a name like any other. */
function own(into: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(into, name, { value, enumerable: true, writable: true, configurable: true });
}

function typed(name: string, text: string, { type }: ArgumentSchema): JsonValue {
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (types.includes('string') || (type === undefined && !/^[[{]/.test(text))) return text;
  if (types.includes('null') && text === 'null') return null;
  if (types.includes('boolean')) return oneOf(name, text, ['true', 'false']) === 'true';
  if (types.includes('integer') || types.includes('number')) return numberOf(name, text, types.includes('number'));
  return json(name, text);
}

function oneOf(name: string, text: string, words: readonly string[]): string {
  if (words.includes(text)) return text;
  throw wrong(name, text, words.join(' or '));
}

function numberOf(name: string, text: string, fractions: boolean): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw wrong(name, text, 'a number');
  if (!fractions && !Number.isInteger(value)) throw wrong(name, text, 'a whole number');
  return value;
}

function json(name: string, text: string): JsonValue {
  try {
    // `as`: the parser makes nothing else.
    return JSON.parse(text) as JsonValue;
  } catch {
    throw wrong(name, text, 'JSON');
  }
}

function wrong(name: string, text: string, expected: string): GwError {
  return new GwError(`the argument ${name} is ${expected}, not ${JSON.stringify(text)}`, {
    code: 'GW_MCP_ARGUMENT',
    exitCode: 2,
  });
}

/** The whole of the arguments as one JSON object. */
export function jsonArguments(text: string): JsonObject {
  const value = json('--args', text);
  if (isJsonObject(value)) return value;
  throw new GwError('--args is one JSON object', { code: 'GW_MCP_ARGUMENT', exitCode: 2 });
}

/** Arguments that are texts, as prompts have them. */
export function textArguments(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    words.map((word) => {
      const at = word.indexOf('=');
      if (at > 0) return [word.slice(0, at), word.slice(at + 1)];
      throw new GwError(`"${word}" is no argument: expected name=value`, { code: 'GW_MCP_ARGUMENT', exitCode: 2 });
    }),
  );
}
