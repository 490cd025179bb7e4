import type { JsonValue } from '../../../src/shared/json.ts';

/** Deeper ones are written by nobody, and what nests some thousand levels cannot be written again. */
export const MAX_DEPTH = 1000;

/** A number that `JSON.parse` may not keep: long ones, and huge or tiny ones. */
const DELICATE = /[0-9.]{16}|[0-9][eE][+-]?[0-9]{3}/;

/** Of ECMAScript's "JSON.parse source text access", which the compiler's library does not know yet. */
interface RawJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  /** An object that `JSON.stringify` writes as this text. */
  rawJSON(text: string): unknown;
}

/**
 * As `JSON.parse`, but numbers that a double does not hold (ids of 64 bits) come out of `JSON.stringify` as they went in:
 * in between they are opaque objects. Throws `SyntaxError` for what is no JSON or is nested too deeply.
 */
export function parseExactly(text: string): JsonValue {
  if (text.length > 2 * MAX_DEPTH && isTooDeep(text)) throw new SyntaxError('nested too deeply');
  // `as`: the parser makes nothing else; an opaque number is taken for an object without known members.
  if (!DELICATE.test(text)) return JSON.parse(text) as JsonValue;
  const json = JSON as unknown as RawJson;
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !holds(value, source) ? json.rawJSON(source) : value,
  ) as JsonValue;
}

/** Whether the number is the one that was written, and not just the nearest. */
function holds(value: number, source: string): boolean {
  const short = String(value);
  return short === source || (Number.isFinite(value) && digitsOf(short) === digitsOf(source));
}

/** Its digits without zeros around them: numbers of the same value and size have the same ones. */
function digitsOf(number: string): string {
  const mantissa = number.replace(/[eE].*$/, '').replaceAll(/[-.]/g, '');
  // Looking for zeros at the end with a pattern takes time squared where there are many in the middle.
  let end = mantissa.length;
  while (end > 0 && mantissa.charCodeAt(end - 1) === ZERO) end -= 1;
  return mantissa.slice(0, end).replace(/^0+/, '');
}

function isTooDeep(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inString) {
      if (code === BACKSLASH) i += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}

const ZERO = 0x30;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
