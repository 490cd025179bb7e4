import type { JsonObject, JsonValue } from '../../src/shared/json.ts';
import { check, written } from './check.ts';
import { lineOf, type Line } from './edit.ts';
import { fieldsOf, type Field } from './fields.ts';

export interface FormOptions {
  /** What the form is for, in a line. */
  readonly title: string;
  /** What its author says of it. */
  readonly message: string;
  readonly schema: JsonObject | undefined;
  readonly given: JsonObject;
  /** What enter does, in a word. */
  readonly verb: string;
  /** Whoever asks takes no for an answer. */
  readonly declinable: boolean;
}

export interface FormState extends FormOptions {
  readonly columns: number;
  readonly rows: number;
  readonly fields: readonly Field[];
  /** What stands in each field. */
  readonly lines: readonly Line[];
  readonly focused: number;
  /** Enter was pressed once: what is missing is said from now on. */
  readonly tried: boolean;
}

/** A form as it is opened: with what was given, then with defaults, and at the first field that is missing. */
export function initialForm(
  options: FormOptions,
  size: { readonly columns: number; readonly rows: number },
): FormState {
  const fields = fieldsOf(options.schema);
  const { given } = options;
  const lines = fields.map((field) => {
    const value = Object.hasOwn(given, field.name) ? given[field.name] : field.schema['default'];
    return lineOf(written(field, value));
  });
  const state: FormState = { ...options, ...size, fields, lines, focused: 0, tried: false };
  return { ...state, focused: Math.max(0, firstProblem(state)) };
}

/** What is wrong with a field; undefined for nothing, and for what is only missing as long as nobody pressed enter. */
export function problemOf(state: FormState, at: number): string | undefined {
  const [field, line] = [state.fields[at], state.lines[at]];
  if (field === undefined || line === undefined || (line.text === '' && !state.tried)) return undefined;
  const checked = check(field, line.text);
  return checked.kind === 'problem' ? checked.text : undefined;
}

/** The first field that nothing can be sent with; -1 for none. */
export function firstProblem({ fields, lines }: FormState): number {
  return fields.findIndex((field, at) => check(field, lines[at]?.text ?? '').kind === 'problem');
}

/** What the form says, with whatever was given beside its fields. */
export function valuesOf({ fields, lines, given }: FormState): JsonObject {
  const names = new Set(fields.map(({ name }) => name));
  const others = Object.entries(given).filter(([name]) => !names.has(name));
  const filled = fields.flatMap((field, at): (readonly [string, JsonValue])[] => {
    const checked = check(field, lines[at]?.text ?? '');
    return checked.kind === 'value' && checked.value !== undefined ? [[field.name, checked.value]] : [];
  });
  return Object.fromEntries([...others, ...filled]);
}
