import { isJsonObject, type JsonObject, type JsonValue } from '../../src/shared/json.ts';
import { wordFor, type Field } from './fields.ts';

/** What a person has written into a field, as a value; undefined where it is left out. */
export type Checked =
  | { readonly kind: 'value'; readonly value: JsonValue | undefined }
  | { readonly kind: 'problem'; readonly text: string };

/** Reads what stands in a field; the server checks everything else. */
export function check(field: Field, text: string): Checked {
  if (text === '') return field.required ? problem('is needed') : { kind: 'value', value: undefined };
  if (field.nullable && text === 'null') return value(null);
  switch (field.kind) {
    case 'choice':
      return chosen(field, text);
    case 'boolean':
      return text === 'true' || text === 'false' ? value(text === 'true') : problem('is true or false');
    case 'number':
    case 'integer':
      return number(field, text);
    case 'text':
      return words(field, text);
    case 'json':
      return json(field, text);
    case 'any':
      return /^[[{]/.test(text.trimStart()) ? json(field, text) : value(text);
  }
}

/** How a value is written into a field. */
export function written(field: Field, given: JsonValue | undefined): string {
  if (given === undefined) return '';
  const choice = field.choices.find((each) => JSON.stringify(each.value) === JSON.stringify(given));
  return choice === undefined ? wordFor(given) : choice.label;
}

function chosen({ choices }: Field, text: string): Checked {
  const found = choices.find(({ label }) => label === text);
  return found === undefined
    ? problem(`is one of ${choices.map(({ label }) => label).join(', ')}`)
    : value(found.value);
}

function number({ kind, schema }: Field, text: string): Checked {
  const read = Number(text);
  if (text.trim() === '' || !Number.isFinite(read)) return problem('is a number');
  if (kind === 'integer' && !Number.isInteger(read)) return problem('is a whole number');
  const limit = (name: string): number | undefined => numberIn(schema, name);
  const [minimum, maximum] = [limit('minimum'), limit('maximum')];
  if (minimum !== undefined && read < minimum) return problem(`is at least ${minimum}`);
  if (maximum !== undefined && read > maximum) return problem(`is at most ${maximum}`);
  const [above, below] = [limit('exclusiveMinimum'), limit('exclusiveMaximum')];
  if (above !== undefined && read <= above) return problem(`is more than ${above}`);
  if (below !== undefined && read >= below) return problem(`is less than ${below}`);
  return value(read);
}

function words({ schema }: Field, text: string): Checked {
  const length = [...text].length;
  const [least, most] = [numberIn(schema, 'minLength'), numberIn(schema, 'maxLength')];
  if (least !== undefined && length < least) return problem(`has at least ${least} characters`);
  if (most !== undefined && length > most) return problem(`has at most ${most} characters`);
  return value(text);
}

function json({ schema }: Field, text: string): Checked {
  let read: JsonValue;
  try {
    // `as`: the parser makes nothing else.
    read = JSON.parse(text) as JsonValue;
  } catch {
    return problem('is no JSON');
  }
  if (schema['type'] === 'array' && !Array.isArray(read)) return problem('is a list, such as ["a", "b"]');
  if (schema['type'] === 'object' && !isJsonObject(read)) return problem('is an object, such as {"a": 1}');
  const missing = isJsonObject(read) ? missingIn(schema, read) : undefined;
  if (missing !== undefined) return problem(`has no "${missing}"`);
  return strangerIn(schema, read) ?? value(read);
}

function missingIn({ required }: JsonObject, read: JsonObject): string | undefined {
  if (!Array.isArray(required)) return undefined;
  return required.find((name): name is string => typeof name === 'string' && !Object.hasOwn(read, name));
}

/** An item of a list that is none of those that it may have. */
function strangerIn({ items }: JsonObject, read: JsonValue): Checked | undefined {
  const allowed: JsonValue | undefined = isJsonObject(items) ? items['enum'] : undefined;
  if (!Array.isArray(allowed) || !Array.isArray(read)) return undefined;
  const stranger = read.find((item) => !allowed.includes(item));
  return stranger === undefined ? undefined : problem(`has items of ${allowed.map(wordFor).join(', ')}`);
}

function numberIn(schema: JsonObject, name: string): number | undefined {
  const limit = schema[name];
  return typeof limit === 'number' ? limit : undefined;
}

function value(of: JsonValue | undefined): Checked {
  return { kind: 'value', value: of };
}

function problem(text: string): Checked {
  return { kind: 'problem', text };
}
