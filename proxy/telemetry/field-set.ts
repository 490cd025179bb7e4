import { toJson } from '../../src/cel/value/json.ts';
import { textOf } from '../../src/cel/value/text.ts';
import { CelError, Flattened, isList, isMap, type Value } from '../../src/cel/value/value.ts';
import type { FieldChanges } from '../../src/config/ir/index.ts';
import type { EvalContext, Expression, Expressions } from '../expression/contract.ts';
import { ACCESS_FIELDS, type AccessField, type AccessRecord, plainFields } from './access-fields.ts';
import type { Attribute } from './spans/span.ts';

/** Entries that one `flatten(…)` may become: maps come from clients. */
const MAX_FLATTENED = 256;
const MAX_DEPTH = 16;

interface Addition {
  readonly name: string;
  readonly expression: Expression;
  /** The expression may make something that expands to several fields. */
  readonly flattens: boolean;
}

/** Which fields an output has: the default ones, less those left out or replaced, and those of expressions. */
export class FieldSet {
  /** Default fields that do not appear as they are. */
  readonly hidden: ReadonlySet<string>;
  readonly #defaults: readonly AccessField[];
  readonly #plainDefaults: readonly AccessField[];
  readonly #additions: readonly Addition[];

  private constructor(hidden: ReadonlySet<string>, additions: readonly Addition[]) {
    this.hidden = hidden;
    this.#additions = additions;
    this.#defaults = ACCESS_FIELDS.filter(([key]) => !hidden.has(key));
    this.#plainDefaults = plainFields(this.#defaults);
  }

  /** `where` names the place for traces; `without` are default fields that this output never has. Throws a `GwError`. */
  static compile(
    { add, remove }: FieldChanges,
    { where, expressions, without = [] }: { where: string; expressions: Expressions; without?: readonly string[] },
  ): FieldSet {
    const additions = add.map(([name, source]) => ({
      name,
      expression: expressions.compile(source, `${where} ${name}`),
      flattens: source.includes('flatten'),
    }));
    return new FieldSet(new Set([...remove, ...add.map(([name]) => name), ...without]), additions);
  }

  get hasAdditions(): boolean {
    return this.#additions.length > 0;
  }

  /** The fields of expressions; what fails or is null is left out. */
  additions(context: EvalContext): readonly Attribute[] {
    const found: Attribute[] = [];
    for (const { name, expression, flattens } of this.#additions) {
      if (flattens) addFlattened(found, name, expression.value(context));
      else {
        const value = expression.json(context);
        if (value !== undefined && value !== null) found.push([name, value]);
      }
    }
    return found;
  }

  /** All of them, in order. */
  attributes(record: AccessRecord, context: EvalContext): Attribute[] {
    const all: Attribute[] = [];
    const fields = record.llm === undefined && record.a2a === undefined ? this.#plainDefaults : this.#defaults;
    for (const [key, read] of fields) {
      const value = read(record);
      if (value !== undefined && value !== null && value !== '') all.push([key, value]);
    }
    if (this.hasAdditions) all.push(...this.additions(context));
    return all;
  }
}

function addFlattened(found: Attribute[], name: string, result: unknown): void {
  if (result === undefined) return;
  // `as`: what an expression gives, by its contract a value of the language.
  const value = result as Value;
  if (!(value instanceof Flattened)) {
    keep(found, name, value);
    return;
  }
  expand(value.value, {
    prefix: name,
    recursive: value.recursive,
    depth: 0,
    found,
    limit: found.length + MAX_FLATTENED,
  });
}

interface Expansion {
  readonly prefix: string;
  readonly recursive: boolean;
  readonly depth: number;
  readonly found: Attribute[];
  readonly limit: number;
}

function expand(value: Flattened['value'], expansion: Expansion): void {
  const { prefix, recursive, depth, found, limit } = expansion;
  for (const [key, part] of entries(value)) {
    if (found.length >= limit) return;
    const name = `${prefix}.${key}`;
    const inner = recursive && depth < MAX_DEPTH && (isMap(part) || isList(part)) ? part : null;
    if (inner === null) keep(found, name, part);
    else expand(inner, { ...expansion, prefix: name, depth: depth + 1 });
  }
}

function* entries(value: Flattened['value']): Generator<readonly [key: string, value: Value]> {
  if (isList(value)) {
    for (const [index, part] of value.entries()) yield [String(index), part];
    return;
  }
  for (const key of value.keys()) yield [textOf(key) ?? '', value.get(key) ?? null];
}

function keep(found: Attribute[], name: string, value: Value): void {
  const json = toJson(value);
  if (json !== null && !(json instanceof CelError)) found.push([name, json]);
}
