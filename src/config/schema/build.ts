import { z } from 'zod';

/** An object that rejects unknown keys. `id` gives it a name in the published JSON Schema. */
export function object<S extends z.core.$ZodLooseShape>(description: string, shape: S, id?: string) {
  return z.strictObject(shape).meta(id === undefined ? { description } : { id, description });
}

export type AddIssue = (message: string, options?: RuleIssue) => void;

export interface RuleIssue {
  /** Key inside the object that the rule looks at; the object itself without it. */
  readonly at?: string | undefined;
  readonly hint?: string | undefined;
  readonly code?: string | undefined;
}

/**
 * Adds a rule about several keys of an object. It runs even when some of the keys are invalid, so that all problems are
 * told at once; it sees the keys that are present, and must not rely on their types.
 */
export function withRule<S extends z.ZodType>(
  schema: S,
  rule: (keys: Record<string, unknown>, add: AddIssue) => void,
): S {
  return schema.superRefine(
    (value, context) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
      rule(value as Record<string, unknown>, (message, { at, hint, code } = {}) => {
        context.addIssue({ code: 'custom', message, path: at === undefined ? [] : [at], params: { hint, code } });
      });
    },
    { when: () => true },
  );
}

/** Exactly one of `keys` has to be there; `what` names the choice in the message. */
export function exactlyOne<S extends z.ZodType>(schema: S, what: string, keys: readonly string[]): S {
  return withRule(schema, (value, add) => {
    const present = keys.filter((key) => value[key] !== undefined);
    if (present.length === 1) return;
    const list = keys.length > 12 ? 'its keys' : keys.map((key) => `\`${key}\``).join(', ');
    if (present.length === 0) add(`${what} needs exactly one of ${list}`, { code: 'GW_CONFIG_MISSING' });
    else
      add(`${what} takes only one of ${present.map((key) => `\`${key}\``).join(', ')}`, {
        at: present[1],
        code: 'GW_CONFIG_CONFLICT',
      });
  });
}

/** Two spellings of one key: only one may be used. */
export function oneSpelling(value: Record<string, unknown>, add: AddIssue, spellings: readonly [string, string]): void {
  const [name, alias] = spellings;
  if (value[name] !== undefined && value[alias] !== undefined) {
    add(`\`${name}\` and \`${alias}\` are two spellings of one key: use only one`, {
      at: alias,
      code: 'GW_CONFIG_CONFLICT',
    });
  }
}
