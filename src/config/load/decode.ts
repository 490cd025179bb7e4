import { z } from 'zod';
import type { ConfigIssueCode } from '../errors.ts';
import { hides, isSecret } from '../schema/marks.ts';
import { alternatives, candidates, childSchema, isMap } from '../schema/walk.ts';
import { formatPath, type Path, type Problem } from './problem.ts';
import { nearest } from './suggest.ts';
import type { Screened } from './screen.ts';

/** More of them are no hint. */
const MAX_KEYS = 12;

/** Turns what the schema says about a value into problems in plain words. */
export function problemsOf(error: z.ZodError, schema: z.core.$ZodType, screened: Screened): Problem[] {
  const problems = error.issues.flatMap((issue) => problemOf(issue, schema, screened.value));
  return problems.filter(({ code, path }) => code !== 'GW_CONFIG_MISSING' || !isThinned(screened, path));
}

/** A key that misses where another was refused is most likely the refused one. */
function isThinned({ thinned }: Screened, path: Path): boolean {
  return thinned.has(formatPath(path)) || thinned.has(formatPath(path.slice(0, -1)));
}

function problemOf(issue: z.core.$ZodIssue, schema: z.core.$ZodType, root: unknown): Problem[] {
  const path = issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  const value = valueAt(root, path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      path: [...path, key],
      code: 'GW_CONFIG_UNKNOWN_KEY',
      message: 'unknown key',
      atKey: true,
    }));
  if (issue.code === 'custom' && issue.params !== undefined) return [customProblem(issue, path)];
  const meant = issue.code === 'invalid_union' ? meantAlternative(issue.errors) : undefined;
  if (meant !== undefined)
    return meant.flatMap((inner) => problemOf({ ...inner, path: [...issue.path, ...inner.path] }, schema, root));
  if (value === undefined && issue.code !== 'custom') {
    return [
      { path, code: 'GW_CONFIG_MISSING', message: isWordy(issue) ? `is required: ${issue.message}` : 'is required' },
    ];
  }
  if (issue.code === 'invalid_key') return [{ path, code: 'GW_CONFIG_VALUE', message: keyMessage(issue), atKey: true }];
  const found = isSecretAt(schema, path, root) ? '' : `, found ${describe(value)}`;
  const { message, hint = keysHint(issue, value, schemasAt(schema, path, root)) } = explain(issue, value, found);
  return [{ path, code: 'GW_CONFIG_VALUE', message, hint }];
}

/** Whoever writes a text or a list where a map belongs wants to know what goes into the map. */
function keysHint(issue: z.core.$ZodIssue, value: unknown, at: readonly z.core.$ZodType[]): string | undefined {
  if (issue.code !== 'invalid_type' || issue.expected !== 'object' || value === null) return undefined;
  const keys = at
    .flatMap((option) => candidates(option, {}))
    .flatMap((option) => (option instanceof z.ZodObject ? Object.keys(option.shape) : []));
  return keys.length === 0 || keys.length > MAX_KEYS ? undefined : `its keys: ${keys.join(', ')}`;
}

/** What is wrong inside the one alternative of the right kind; undefined when there is not exactly one. */
function meantAlternative(
  alternativeIssues: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const fitting = alternativeIssues.filter((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'custom' || code === 'unrecognized_keys'),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}

function customProblem(issue: z.core.$ZodIssueCustom, path: Path): Problem {
  const { code, hint } = issue.params ?? {};
  return {
    path,
    code: typeof code === 'string' ? (code as ConfigIssueCode) : 'GW_CONFIG_VALUE', // rules name their codes in build.ts
    message: issue.message,
    hint: typeof hint === 'string' ? hint : undefined,
    atKey: true,
  };
}

/** Messages of the schemas begin with `expected`, or are sentences of their own; the library's begin with these words. */
function isWordy(issue: z.core.$ZodIssue): boolean {
  return !/^(Invalid|Too|Unrecognized|Expected)/.test(issue.message);
}

function keyMessage(issue: z.core.$ZodIssueInvalidKey): string {
  const first = issue.issues[0];
  return first !== undefined && isWordy(first) ? `${first.message} as the key` : 'is not a valid key';
}

function explain(
  issue: z.core.$ZodIssue,
  value: unknown,
  found: string,
): { message: string; hint?: string | undefined } {
  if (isWordy(issue))
    return {
      message: issue.message.startsWith('expected ') ? `${issue.message}${found}` : issue.message,
      hint: unquote(value, issue),
    };
  switch (issue.code) {
    case 'invalid_type':
      return { message: `expected ${kindName(issue.expected)}${found}`, hint: unquote(value, issue) };
    case 'invalid_value': {
      const words = issue.values.map(String);
      const near = typeof value === 'string' ? nearest(value, words) : undefined;
      return {
        message: `expected ${words.length === 1 ? words[0] : `one of ${words.join(', ')}`}${found}`,
        hint: near === undefined ? undefined : `did you mean \`${near}\`?`,
      };
    }
    case 'too_small':
      return { message: `expected at least ${issue.minimum}${unitOf(issue.origin, issue.minimum)}${found}` };
    case 'too_big':
      return { message: `expected at most ${issue.maximum}${unitOf(issue.origin, issue.maximum)}${found}` };
    case 'invalid_format':
      return {
        message: `has not the right form${issue.pattern === undefined ? '' : `: it has to match ${issue.pattern}`}${found}`,
      };
    default:
      return { message: `expected another kind of value${found}` };
  }
}

/** A number in quotes where a number is wanted is the most common slip. */
function unquote(value: unknown, issue: z.core.$ZodIssue): string | undefined {
  const wantsNumber = issue.code === 'invalid_type' && (issue.expected === 'number' || issue.expected === 'int');
  if (wantsNumber && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return 'remove the quotes';
  if (issue.code === 'invalid_type' && issue.expected === 'boolean' && typeof value === 'string')
    return 'write true or false, without quotes';
  return undefined;
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  record: 'a map',
  null: 'nothing (null)',
};

function kindName(kind: string): string {
  return KINDS[kind] ?? kind;
}

function unitOf(origin: string, count: number | bigint): string {
  if (origin === 'string') return Number(count) === 1 ? ' character' : ' characters';
  if (origin !== 'array') return '';
  return Number(count) === 1 ? ' entry' : ' entries';
}

/** What stands there, short enough for a line. */
function describe(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (isMap(value)) return Object.keys(value).length === 0 ? 'an empty map' : 'a map';
  if (typeof value !== 'string') return `${typeof value === 'number' ? 'the number ' : ''}${String(value)}`;
  if (value === '') return 'an empty text';
  return value.length > 60 ? `a text of ${value.length} characters` : `the text ${JSON.stringify(value)}`;
}

function valueAt(root: unknown, path: Path): unknown {
  let current = root;
  for (const part of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

/** What the value at a path may be, by the kinds of what stands above it. */
function schemasAt(schema: z.core.$ZodType, path: Path, root: unknown): readonly z.core.$ZodType[] {
  let at: readonly z.core.$ZodType[] = [schema];
  for (const [index, part] of path.entries()) {
    const parent = valueAt(root, path.slice(0, index));
    at = at.flatMap((option) => candidates(option, parent)).flatMap((option) => childSchema(option, part) ?? []);
  }
  return at;
}

/** Whether the value at a path, or anything above it, is secret by its schema. */
function isSecretAt(schema: z.core.$ZodType, path: Path, root: unknown): boolean {
  let at: readonly z.core.$ZodType[] = [schema];
  let value = root;
  for (const [index, part] of path.entries()) {
    const parent = value;
    value = valueAt(root, path.slice(0, index + 1));
    at = at.flatMap((option) => candidates(option, parent)).flatMap((option) => childSchema(option, part) ?? []);
    const found = at.flatMap((option) => [...alternatives(option, value)]);
    if (found.some((each) => isSecret(each) || hides(each, value))) return true;
  }
  return false;
}
