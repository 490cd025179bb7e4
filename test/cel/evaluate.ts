import { CustomFunctions } from '../../src/cel/compile/custom.ts';
import type { Host, Variable } from '../../src/cel/compile/host.ts';
import { parseDefinitions } from '../../src/cel/custom/definitions.ts';
import { library } from '../../src/cel/library/library.ts';
import { isTaken } from '../../src/cel/names.ts';
import { Program } from '../../src/cel/program.ts';
import { toJson } from '../../src/cel/value/json.ts';
import { fromJson, type Json } from '../../src/cel/value/map.ts';
import { CelError, type Result } from '../../src/cel/value/value.ts';

export const functions = library({ random: () => 0.25, uuid: () => '00000000-0000-4000-8000-000000000000' });

/** A host whose variables are JSON. */
export function hostOf(variables: Readonly<Record<string, Json>>): Host<null> {
  const known = new Map(
    Object.entries(variables).map(([name, json]): [string, Variable<null>] => [
      name,
      { read: () => fromJson(json) ?? null },
    ]),
  );
  return { variable: (name) => known.get(name), variables: [...known.keys()] };
}

export function compile(
  source: string,
  variables: Readonly<Record<string, Json>> = {},
  definitions = '',
): Program<null> {
  const custom =
    definitions === '' ? new CustomFunctions() : parseDefinitions(definitions, (name) => isTaken(name, functions));
  return Program.compile(source, { host: hostOf(variables), functions, custom, bodies: new Map() });
}

export function evaluate(source: string, variables: Readonly<Record<string, Json>> = {}, definitions = ''): Result {
  return compile(source, variables, definitions).evaluate(null);
}

/** As JSON; a failure as `! message`. */
export function shown(source: string, variables: Readonly<Record<string, Json>> = {}, definitions = ''): Json {
  const value = evaluate(source, variables, definitions);
  const json = value instanceof CelError ? value : toJson(value);
  return json instanceof CelError ? `! ${json.message}` : json;
}
