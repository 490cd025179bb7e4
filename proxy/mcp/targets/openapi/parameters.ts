import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { isToken } from '../../../exchange/grammar.ts';
import type { Components } from './components.ts';
import type { ParameterPlan, Style } from './plan.ts';
import { unusable } from './problem.ts';
import type { Schemas } from './schemas.ts';

export type Group = 'header' | 'query' | 'path';

export interface Parameter {
  readonly group: Group;
  readonly plan: ParameterPlan;
  readonly schema: JsonValue;
}

/** Headers that are none of a tool's business: of the message itself, of the connection, of the gateway's credentials. */
const RESERVED: ReadonlySet<string> = new Set([
  'accept',
  'authorization',
  'connection',
  'content-length',
  'content-type',
  'cookie',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

interface Readers {
  readonly components: Components;
  readonly schemas: Schemas;
}

/** Those of a path and of one of its operations, which go before. */
export function readParameters(
  lists: { readonly path: JsonValue | undefined; readonly operation: JsonValue | undefined },
  place: string,
  readers: Readers,
): readonly Parameter[] {
  const found = new Map<string, Parameter>();
  for (const [level, list] of Object.entries(lists)) {
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw unusable(place, '`parameters` is no list');
    for (const value of list) {
      const parameter = readParameter(readers.components.resolve(value, place), {
        place,
        level,
        schemas: readers.schemas,
      });
      if (parameter !== null) found.set(keyOf(parameter), parameter);
    }
  }
  return [...found.values()];
}

function keyOf({ group, plan: { name } }: Parameter): string {
  return `${group} ${group === 'header' ? name.toLowerCase() : name}`;
}

interface Reading {
  readonly place: string;
  readonly level: string;
  readonly schemas: Schemas;
}

/** Null for one that is left to the gateway or the path's other users. */
function readParameter(parameter: JsonObject, { place, level, schemas }: Reading): Parameter | null {
  const { name, in: group, required, schema, description } = parameter;
  if (typeof name !== 'string' || name === '') throw unusable(place, 'a parameter has no name');
  const where = `${place}, parameter ${name}`;
  if (group === 'cookie' && level === 'path') return null;
  if (group === 'cookie') throw unusable(where, 'cookies cannot be parameters of a tool');
  if (group !== 'header' && group !== 'query' && group !== 'path')
    throw unusable(where, '`in` is none of path, query, header');
  if (parameter.content !== undefined) throw unusable(where, 'parameters with `content` cannot be written');
  if (group === 'header' && !isToken(name)) throw unusable(where, 'the name is none of a header');
  if (group === 'header' && RESERVED.has(name.toLowerCase())) return null;
  const inlined = schemas.inline(schema ?? {}, where);
  return {
    group,
    plan: { name, required: group === 'path' || required === true, ...styleOf(parameter, group) },
    schema: described(inlined, description),
  };
}

/** The defaults are those of the specification: forms explode, others do not. */
export function styleOf({ style, explode }: JsonObject, group: Group): Pick<ParameterPlan, 'explode' | 'style'> {
  const [usual, ...others] = STYLES[group];
  const known = others.find((each) => each === style) ?? usual;
  return { style: known, explode: typeof explode === 'boolean' ? explode : known === 'form' };
}

/** The usual one first. */
const STYLES: Readonly<Record<Group, readonly [Style, ...Style[]]>> = {
  header: ['simple'],
  path: ['simple', 'label', 'matrix'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
};

/** What is said of a parameter goes before what is said of its type. */
function described(schema: JsonValue, description: JsonValue | undefined): JsonValue {
  if (typeof description !== 'string' || description === '') return schema;
  if (isJsonObject(schema)) return Object.fromEntries([...Object.entries(schema), ['description', description]]);
  return schema === true ? { description } : schema;
}

/** The object that a tool takes for a group; undefined when the group is empty. */
export function groupSchema(parameters: readonly Parameter[], group: Group): JsonObject | undefined {
  const members = parameters.filter((each) => each.group === group);
  if (members.length === 0) return undefined;
  const required = members.filter(({ plan }) => plan.required).map(({ plan }) => plan.name);
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(({ plan, schema }) => [plan.name, schema])),
    ...(required.length === 0 ? {} : { required }),
  };
}
