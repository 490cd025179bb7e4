import { RE2JS } from 're2js';
import type { FunctionDef } from '../compile/host.ts';
import { tooLong } from '../compile/operators.ts';
import { messageOf } from '../../shared/errors.ts';
import { MAX_TEXT } from '../value/text.ts';
import { CelError, failure, noOverload, type Result, type Value } from '../value/value.ts';
import { both, method, slow } from './define.ts';

const MAX_CACHED = 256;

/** Regular expressions in RE2 syntax, in linear time. Compiled ones are kept, the oldest leaving first. */
export function regexFunctions(): readonly FunctionDef[] {
  const compiled = new Map<string, RE2JS | CelError>();
  const regex = (source: string): RE2JS | CelError => {
    const known = compiled.get(source);
    if (known !== undefined) return known instanceof CelError ? failure(known.message) : known;
    const made = compileRegex(source);
    const oldest = compiled.size >= MAX_CACHED ? compiled.keys().next().value : undefined;
    if (oldest !== undefined) compiled.delete(oldest);
    compiled.set(source, made);
    return made;
  };
  return [
    slow(
      16,
      both('matches', (text, pattern) => matches(regex, text, pattern)),
    ),
    slow(
      16,
      method('regexReplace', (text, pattern, to) => replaceFirst(regex, [text, pattern, to])),
    ),
  ];
}

type Compile = (source: string) => RE2JS | CelError;

function compileRegex(source: string): RE2JS | CelError {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    return failure(`not a regular expression in RE2 syntax: ${messageOf(error)}`);
  }
}

/** Anywhere in the text, unless the pattern is anchored. */
function matches(compile: Compile, text: Value, pattern: Value): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noOverload('matches', text, pattern);
  const regex = compile(pattern);
  return regex instanceof CelError ? regex : regex.test(text);
}

/** Replaces the first match; `$1` and `${name}` stand for groups, `$$` for a dollar sign. */
function replaceFirst(compile: Compile, [text, pattern, to]: readonly [Value, Value, Value]): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string' || typeof to !== 'string') {
    return noOverload('regexReplace', text, pattern, to);
  }
  const regex = compile(pattern);
  if (regex instanceof CelError) return regex;
  const matcher = regex.matcher(text);
  if (!matcher.find()) return text;
  const groups = regex.namedGroups();
  const inserted = to.replaceAll(
    /\$(?:(\$)|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})/g,
    (whole, dollar: string | undefined, bare: string | undefined, braced: string | undefined) => {
      if (dollar !== undefined) return '$';
      const name = bare ?? braced ?? whole;
      const group = /^\d+$/.test(name) ? Number(name) : groups[name];
      return group === undefined || group > regex.groupCount() ? '' : (matcher.group(group) ?? '');
    },
  );
  const replaced = text.slice(0, matcher.start()) + inserted + text.slice(matcher.end());
  return replaced.length > MAX_TEXT ? tooLong() : replaced;
}
