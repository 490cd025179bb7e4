import { z } from 'zod';
import type { Choice } from '../../ir/policy/conditional.ts';
import { type AddIssue, object, withRule } from '../build.ts';
import { cel } from '../scalars.ts';

/** A rule over the keys of one set of settings, see `withRule`. */
export type SettingsRule = (keys: Record<string, unknown>, add: AddIssue) => void;

const noRule: SettingsRule = () => {};

/** The key `conditional` of the policies that choose their settings per request: the first entry that holds wins. */
export function conditionalList<S extends z.core.$ZodLooseShape>(shape: S, rule: SettingsRule = noRule) {
  const entry = withRule(
    object('Settings that apply when the condition holds.', { condition: cel.optional(), ...shape }),
    rule,
  );
  return z
    .array(entry)
    .min(1)
    .max(64)
    .describe('The first entry whose condition is true applies; one without a condition may only be the last.')
    .superRefine(
      (entries, context) => {
        for (const [index, value] of entries.slice(0, -1).entries()) {
          // Entries that are broken already are told by their own schema.
          if (typeof value !== 'object' || value === null || Reflect.get(value, 'condition') !== undefined) continue;
          context.addIssue({
            code: 'custom',
            message: 'an entry without a condition may only be the last: those behind it are never reached',
            path: [index],
            params: { code: 'GW_CONFIG_CONFLICT' },
          });
        }
      },
      { when: ({ value }) => Array.isArray(value) },
    );
}

/**
 * A policy that is either one set of settings, or `conditional` with a list of them. The output is a `Choice` of settings
 * with their defaults filled in. `rule` is checked for every set.
 */
export function conditionally<S extends z.core.$ZodLooseShape>(
  description: string,
  shape: S,
  { id, rule = noRule }: { id?: string; rule?: SettingsRule } = {},
) {
  const own = Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, bare(schema).optional()]));
  const outer = object(description, { ...own, conditional: conditionalList(shape, rule).optional() }, id);
  // Late: a shape may hold schemas that are only complete once every module has run.
  const required = lazily(() => Object.keys(shape).filter((key) => !accepts(shape[key], undefined)));
  return withRule(outer, (keys, add) => {
    if (keys['conditional'] === undefined) {
      for (const key of required()) {
        if (keys[key] === undefined) add(`\`${key}\` is required`, { code: 'GW_CONFIG_MISSING' });
      }
      rule(keys, add);
      return;
    }
    for (const key of Object.keys(shape).filter((name) => keys[name] !== undefined))
      add('`conditional` stands alone: its entries hold the settings', { at: key, code: 'GW_CONFIG_CONFLICT' });
  }).transform((value) => choiceOf(shape, value));
}

/** `as`: the shape was applied key by key, whose types a generic mapping cannot follow. */
function choiceOf<S extends z.core.$ZodLooseShape>(shape: S, value: object): Choice<SettingsOf<S>> {
  const conditional: unknown = Reflect.get(value, 'conditional');
  if (!Array.isArray(conditional)) return { entries: [{ settings: filled(shape, value) as SettingsOf<S> }] };
  return {
    entries: conditional.map((entry: Record<string, unknown>) => {
      const { condition, ...settings } = entry;
      return typeof condition === 'string'
        ? { condition, settings: settings as SettingsOf<S> }
        : { settings: settings as SettingsOf<S> };
    }),
  };
}

/** What one set of settings comes out as. */
export type SettingsOf<S extends z.core.$ZodLooseShape> = z.output<ReturnType<typeof object<S>>>;

/** A schema without its default, so that a key which is not there can be told from one that is. */
function bare(schema: z.core.SomeType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) {
    const inner = schema.def.innerType as z.ZodType; // the library types it as its core class
    const { description } = schema;
    return description === undefined || inner.description !== undefined ? inner : inner.describe(description);
  }
  return schema as z.ZodType; // shapes are written with the classic classes
}

function filled(shape: z.core.$ZodLooseShape, value: object): Record<string, unknown> {
  const settings: Record<string, unknown> = {};
  for (const [key, schema] of Object.entries(shape)) {
    const given: unknown = Reflect.get(value, key);
    const settled: unknown = given === undefined ? (schema as z.ZodType).parse(undefined) : given;
    if (settled !== undefined) settings[key] = settled;
  }
  return settings;
}

function accepts(schema: z.core.SomeType | undefined, value: unknown): boolean {
  return (schema as z.ZodType).safeParse(value).success;
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => (made ??= { value: make() }).value;
}
