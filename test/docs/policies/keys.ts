import { read } from '../markdown.ts';

/** A part of the published JSON Schema. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly additionalProperties?: boolean | Schema;
  readonly definitions?: Readonly<Record<string, Schema>>;
}

/** One line of the table of keys. */
export interface Key {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: string;
  readonly description: string;
}

// `as`: the file is written by the product itself.
export const published = JSON.parse(read('schema/gwctl.schema.json')) as Schema;

/** Definitions that have a page or a name of their own: shown by name, not taken apart. */
const NAMED: ReadonlySet<string> = new Set([
  'Expression',
  'Duration',
  'ByteSize',
  'FileOrInline',
  'FileInlineOrRemote',
  'PemSource',
  'Json',
  'ConnectionPolicies',
  'ServiceRef',
]);

const NAMES: Readonly<Record<string, string>> = {
  Expression: '[expression](../cel.md)',
  Duration: 'duration',
  ByteSize: 'size',
  FileOrInline: 'text or `{file}`',
  FileInlineOrRemote: 'text, `{file}` or `{url}`',
  PemSource: 'PEM text or path',
  Json: 'any',
  ConnectionPolicies: 'connection policies',
  ServiceRef: '`{name, port}`',
};

/** Every key below a policy, outside in, named by its path. */
export function keysOf(schema: Schema): Key[] {
  return [...below(schema, '', new Set())];
}

export function descriptionOf(schema: Schema): string {
  return schema.description ?? resolve(schema).description ?? '';
}

function* below(schema: Schema, prefix: string, open: ReadonlySet<Schema>): Generator<Key> {
  const bare = resolve(schema);
  if (open.has(bare)) return;
  const within = new Set([...open, bare]);
  yield* merged(
    (bare.anyOf ?? bare.oneOf ?? []).map((option) => [...below(option, prefix, within)]),
    prefix,
  );
  if (bare.items !== undefined && !isNamed(bare.items)) yield* below(bare.items, `${prefix}[]`, within);
  for (const [name, inner] of Object.entries(bare.properties ?? {})) {
    const path = prefix === '' || prefix === '[]' ? name : `${prefix}.${name}`;
    yield {
      name: path,
      type: typeOf(inner),
      required: bare.required?.includes(name) === true,
      default: defaultOf(inner),
      description: descriptionOf(inner),
    };
    // Entries of a conditional list have the same keys as the policy itself.
    if (!isNamed(inner) && name !== 'conditional') yield* below(inner, path, within);
  }
}

/** Keys of alternatives, each once. What only one of them asks for is not asked for. */
function merged(alternatives: readonly (readonly Key[])[], prefix: string): Key[] {
  const isOwn = ({ name }: Key): boolean => !name.slice(prefix.length + 1).includes('.');
  const everywhere = (key: Key): boolean =>
    alternatives.every((keys) => keys.some(({ name, required }) => name === key.name && required));
  const found = new Map<string, Key>();
  for (const key of alternatives.flat()) {
    if (found.has(key.name)) continue;
    found.set(key.name, { ...key, required: key.required && (!isOwn(key) || everywhere(key)) });
  }
  return [...found.values()];
}

/** Follows references. */
function resolve(schema: Schema): Schema {
  const [only, other] = schema.allOf ?? [];
  const ref = schema.$ref ?? (other === undefined ? only?.$ref : undefined);
  if (ref === undefined) return schema;
  const target = published.definitions?.[nameOf(ref)];
  if (target === undefined) throw new Error(`${ref} leads nowhere`);
  return resolve(target);
}

function nameOf(ref: string): string {
  return ref.replace('#/definitions/', '');
}

function definitionOf(schema: Schema): string | undefined {
  const ref = schema.$ref ?? schema.allOf?.[0]?.$ref;
  return ref === undefined ? undefined : nameOf(ref);
}

function isNamed(schema: Schema): boolean {
  const name = definitionOf(schema);
  return name !== undefined && NAMED.has(name);
}

function typeOf(schema: Schema): string {
  const name = definitionOf(schema);
  if (name !== undefined && NAMED.has(name)) return NAMES[name] ?? name;
  const bare = resolve(schema);
  if (bare.enum !== undefined) return bare.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (bare.const !== undefined) return `\`${String(bare.const)}\``;
  const options = bare.anyOf ?? bare.oneOf;
  if (options !== undefined) return [...new Set(options.map(typeOf))].join(' or ');
  if (bare.items !== undefined) return `list of ${typeOf(bare.items)}`;
  if (typeof bare.additionalProperties === 'object' && bare.properties === undefined)
    return `map to ${typeOf(bare.additionalProperties)}`;
  const type = typeof bare.type === 'string' ? bare.type : bare.type?.[0];
  return type ?? 'any';
}

function defaultOf(schema: Schema): string {
  const value = schema.default ?? resolve(schema).default;
  if (value === undefined || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
