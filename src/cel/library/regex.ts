import type { RE2JS } from 're2js';
import type { FunctionDef, Meter } from '../compile/host.ts';
import { tooLong } from '../compile/operators.ts';
import { messageOf } from '../../shared/errors.ts';
import { lateLibrary } from '../../shared/late-library.ts';
import { MAX_TEXT } from '../value/text.ts';
import { CelError, failure, noOverload, type Result, type Value } from '../value/value.ts';
import { both, method, noMeter } from './define.ts';
import { testerOf, type Test } from './regex-scan.ts';

const MAX_CACHED = 256;
/** Of the compiled form: larger ones take seconds for texts of ordinary length. */
const MAX_PROGRAM = 10_000;

/** Regular expressions in RE2 syntax, in linear time. The engine is loaded by the first expression that needs it. */
export function regexFunctions(): readonly FunctionDef[] {
  const cache = new RegexCache();
  return [
    {
      ...both('matches', noMeter, [2, 2]),
      metered: (meter, text = null, pattern = null) => matches({ cache, meter }, text, pattern),
      specialize: ([, pattern]) => literalMatches(pattern),
    },
    {
      ...method('regexReplace', noMeter, [3, 3]),
      metered: (meter, text = null, pattern = null, to = null) => replaceFirst({ cache, meter }, [text, pattern, to]),
      specialize: () => {
        lateLibrary('re2js');
        return undefined;
      },
    },
  ];
}

interface Work {
  readonly cache: RegexCache;
  readonly meter: Meter;
}

/** A regular expression that is ready. */
interface Ready {
  readonly regex: RE2JS;
  readonly size: number;
  readonly test: Test;
}

/** Compiled regular expressions by their source, the oldest leaving first. */
class RegexCache {
  readonly #compiled = new Map<string, Ready | string>();
  // Most configurations have one pattern, or use each in turn many times.
  #lastSource = '';
  #last: Ready | null = null;

  get(source: string, meter: Meter): Ready | CelError {
    if (this.#last !== null && source === this.#lastSource) return this.#last;
    const found = this.#compiled.get(source) ?? this.#compile(source, meter);
    if (typeof found === 'string') return failure(found);
    this.#lastSource = source;
    this.#last = found;
    return found;
  }

  #compile(source: string, meter: Meter): Ready | string {
    const made = compileRegex(source);
    meter.left -= 100 + 2 * (typeof made === 'string' ? source.length : made.size);
    const oldest = this.#compiled.size >= MAX_CACHED ? this.#compiled.keys().next().value : undefined;
    if (oldest !== undefined) this.#compiled.delete(oldest);
    this.#compiled.set(source, made);
    return made;
  }
}

/** What is wrong with it, as a text, when it can't be used. */
function compileRegex(source: string): Ready | string {
  try {
    const regex = lateLibrary('re2js').RE2JS.compile(source);
    const size = regex.programSize();
    return size > MAX_PROGRAM ? 'the regular expression is too large' : { regex, size, test: testerOf(regex) };
  } catch (error) {
    return `not a regular expression in RE2 syntax: ${messageOf(error)}`;
  }
}

/** A pattern that is written out is compiled with the expression; one that is wrong still fails only when it is used. */
function literalMatches(pattern: Result | undefined): FunctionDef['metered'] {
  if (typeof pattern !== 'string') {
    lateLibrary('re2js');
    return undefined;
  }
  const ready = compileRegex(pattern);
  if (typeof ready === 'string') return () => failure(ready);
  return (meter, text = null) => {
    if (typeof text !== 'string') return noOverload('matches', text, pattern);
    return spendOn(ready, text, meter) ? ready.test(text) : tooMuch();
  };
}

/** Takes what a text costs at worst, when each character meets the whole program; false when there is not enough left. */
function spendOn({ size }: Ready, text: string, meter: Meter): boolean {
  meter.left -= Math.floor((text.length * size) / 256);
  return meter.left >= 0;
}

function tooMuch(): CelError {
  return new CelError('limit', 'the text is too long for this regular expression');
}

/** The compiled pattern, when there is enough work left for the text. */
function prepare({ cache, meter }: Work, text: string, pattern: string): Ready | CelError {
  const ready = cache.get(pattern, meter);
  if (ready instanceof CelError) return ready;
  return spendOn(ready, text, meter) ? ready : tooMuch();
}

/** Anywhere in the text, unless the pattern is anchored. */
function matches(work: Work, text: Value, pattern: Value): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noOverload('matches', text, pattern);
  const ready = prepare(work, text, pattern);
  return ready instanceof CelError ? ready : ready.test(text);
}

const GROUP = /\$(?:(\$)|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})/g;

/** Replaces the first match; `$1` and `${name}` stand for groups, `$$` for a dollar sign. */
function replaceFirst(work: Work, [text, pattern, to]: readonly [Value, Value, Value]): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string' || typeof to !== 'string') {
    return noOverload('regexReplace', text, pattern, to);
  }
  const ready = prepare(work, text, pattern);
  if (ready instanceof CelError) return ready;
  const { regex } = ready;
  const matcher = regex.matcher(text);
  if (!matcher.find()) return text;
  const names = regex.namedGroups();
  let length = text.length + to.length;
  const inserted = to.replaceAll(GROUP, (whole, dollar?: string, bare?: string, braced?: string) => {
    if (dollar !== undefined) return '$';
    const name = bare ?? braced ?? whole;
    const group = /^\d+$/.test(name) ? Number(name) : names[name];
    const found = group === undefined || group > regex.groupCount() ? '' : (matcher.group(group) ?? '');
    length += found.length;
    return length > MAX_TEXT ? '' : found;
  });
  return length > MAX_TEXT ? tooLong() : text.slice(0, matcher.start()) + inserted + text.slice(matcher.end());
}
