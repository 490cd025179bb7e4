import type { FunctionDef } from '../compile/host.ts';
import { tooLong } from '../compile/operators.ts';
import { findText, findTextBackwards, splitText } from '../value/search.ts';
import { codePoints, MAX_TEXT } from '../value/text.ts';
import { failure, isList, noOverload, type Result, type Value } from '../value/value.ts';
import { call, method, slow } from './define.ts';
import { format } from './format.ts';

/** Text functions. Positions count characters (code points). */
export const stringFunctions: readonly FunctionDef[] = [
  method('charAt', charAt),
  slow(
    2,
    method('indexOf', (text, part, from) => find('indexOf', [text, part, from]), [2, 3]),
  ),
  slow(
    2,
    method('lastIndexOf', (text, part, from) => find('lastIndexOf', [text, part, from]), [2, 3]),
  ),
  method('join', join, [1, 2]),
  method('lowerAscii', (text) => onText('lowerAscii', text, (s) => s.replaceAll(/[A-Z]+/g, (m) => m.toLowerCase()))),
  method('upperAscii', (text) => onText('upperAscii', text, (s) => s.replaceAll(/[a-z]+/g, (m) => m.toUpperCase()))),
  method('trim', (text) => onText('trim', text, trim)),
  slow(4, method('replace', replace, [3, 4])),
  slow(8, method('split', split, [2, 3])),
  method('substring', substring, [2, 3]),
  slow(
    8,
    method('reverse', (text) => onText('reverse', text, (s) => [...s].toReversed().join(''))),
  ),
  method('stripPrefix', (text, prefix) =>
    onTexts('stripPrefix', text, prefix, (s, p) => (s.startsWith(p) ? s.slice(p.length) : s)),
  ),
  method('stripSuffix', (text, suffix) =>
    onTexts('stripSuffix', text, suffix, (s, p) => (s.endsWith(p) ? s.slice(0, s.length - p.length) : s)),
  ),
  call('strings.quote', (text) => onText('strings.quote', text, quote)),
  slow(
    4,
    method('format', (text, args) =>
      typeof text === 'string' && isList(args) ? format(text, args) : noOverload('format', text, args),
    ),
  ),
];

function onText(name: string, text: Value, apply: (text: string) => Result): Result {
  return typeof text === 'string' ? apply(text) : noOverload(name, text);
}

function onTexts(name: string, a: Value, b: Value, apply: (a: string, b: string) => Result): Result {
  return typeof a === 'string' && typeof b === 'string' ? apply(a, b) : noOverload(name, a, b);
}

/** Without the white space around it, what Unicode names so. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text.charAt(start))) start++;
  // No regular expression: from the end it would look at each run of blanks many times.
  while (end > start && isSpace(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function isSpace(character: string): boolean {
  return /^\p{White_Space}$/u.test(character);
}

function charAt(text: Value, at: Value): Result {
  if (typeof text !== 'string' || typeof at !== 'number') return noOverload('charAt', text, at);
  const characters = charactersOf(text);
  return at === characters.length ? '' : (characters[at] ?? failure(`index out of range: ${at}`));
}

/** Texts without surrogates are their own list of characters. */
function charactersOf(text: string): string | readonly string[] {
  return /[\ud800-\udfff]/.test(text) ? [...text] : text;
}

function find(name: 'indexOf' | 'lastIndexOf', [text, part, from]: readonly (Value | undefined)[]): Result {
  if (typeof text !== 'string' || typeof part !== 'string' || (from !== undefined && typeof from !== 'number')) {
    return noOverload(name, text ?? null, part ?? null, ...(from === undefined ? [] : [from]));
  }
  const characters = charactersOf(text);
  if (from !== undefined && (from < 0 || from > characters.length)) return failure(`index out of range: ${from}`);
  const unit = from === undefined ? undefined : unitOf(characters, from);
  const found = name === 'indexOf' ? findText(text, part, unit) : findTextBackwards(text, part, unit);
  return found <= 0 || typeof characters === 'string' ? found : codePoints(text.slice(0, found));
}

/** The UTF-16 position of a character. */
function unitOf(characters: string | readonly string[], at: number): number {
  return typeof characters === 'string' ? at : characters.slice(0, at).join('').length;
}

function join(list: Value, separator: Value = ''): Result {
  if (!isList(list) || typeof separator !== 'string') return noOverload('join', list, separator);
  let length = separator.length * list.length;
  for (const item of list) {
    if (typeof item !== 'string') return noOverload('join', list, item);
    length += item.length;
  }
  return length > MAX_TEXT ? tooLong() : list.join(separator);
}

function replace(text: Value, from: Value, to: Value, limit: Value = -1): Result {
  if (typeof text !== 'string' || typeof from !== 'string' || typeof to !== 'string' || typeof limit !== 'number') {
    return noOverload('replace', text, from, to, limit);
  }
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  const pieces = from === '' ? ['', ...text] : splitText(text, from);
  if (from === '' && text !== '') pieces.push('');
  const times = Math.min(most, pieces.length - 1);
  if (text.length + times * to.length > MAX_TEXT) return tooLong();
  if (times === pieces.length - 1) return pieces.join(to);
  return [...pieces.slice(0, times), pieces.slice(times).join(from)].join(to);
}

function split(text: Value, separator: Value, limit: Value = -1): Result {
  if (typeof text !== 'string' || typeof separator !== 'string' || typeof limit !== 'number') {
    return noOverload('split', text, separator, limit);
  }
  const pieces = separator === '' ? [...text] : splitText(text, separator);
  if (limit < 0 || pieces.length <= limit) return pieces;
  if (limit === 0) return [];
  return [...pieces.slice(0, limit - 1), pieces.slice(limit - 1).join(separator)];
}

function substring(text: Value, start: Value, end?: Value): Result {
  if (typeof text !== 'string' || typeof start !== 'number' || (end !== undefined && typeof end !== 'number')) {
    return noOverload('substring', text, start, ...(end === undefined ? [] : [end]));
  }
  const characters = charactersOf(text);
  const stop = end ?? characters.length;
  if (start < 0 || start > characters.length) return failure(`index out of range: ${start}`);
  if (stop < 0 || stop > characters.length) return failure(`index out of range: ${stop}`);
  if (start > stop) return failure(`invalid substring range: from ${start} to ${stop}`);
  const part = characters.slice(start, stop);
  return typeof part === 'string' ? part : part.join('');
}

const QUOTED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

/** As a literal in double quotes; lone surrogates become the replacement character. */
function quote(text: string): string {
  return `"${text.toWellFormed().replaceAll(/[\x07-\r\\"]/g, (character) => QUOTED[character] ?? character)}"`;
}
