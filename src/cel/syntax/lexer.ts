import { canonical } from '../value/number.ts';
import { Double, Uint, type Value } from '../value/value.ts';
import { CelSyntaxError } from './syntax-error.ts';
import { unescapeBytes, unescapeText } from './escapes.ts';

export type TokenKind = 'ident' | 'quoted' | 'literal' | 'op' | 'end';

export interface Token {
  readonly kind: TokenKind;
  /** Of an identifier, its name; of an operator, its text. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Of a literal. An int may be one beyond the range: only its negation fits. */
  readonly value?: Value;
}

const BLANK = /(?:[ \t\n\f\r]+|\/\/[^\n]*)*/y;
const IDENT = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED = /`[A-Za-z0-9_.\-/ ]+`/y;
const NUMBER =
  /0[xX][0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?)|[0-9]+[uU]?/y;
const STRING_START = /(?:[rR][bB]?|[bB][rR]?)?("""|'''|"|')/y;
const OPERATOR = /&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()[\]{}]/y;

/** One below the least int is the largest magnitude that a minus sign can still save. */
const MAX_MAGNITUDE = 2n ** 63n;
const MAX_UINT = 2n ** 64n - 1n;

/** Splits an expression into tokens; the last one is `end`. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    at += lengthAt(BLANK, source, at);
    if (at >= source.length) break;
    const token = tokenAt(source, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: 'end', text: 'the end', start: source.length, end: source.length });
  return tokens;
}

function tokenAt(source: string, at: number): Token {
  const string = matchAt(STRING_START, source, at);
  if (string !== null) return stringAt(source, at, string[0]);
  const ident = matchAt(IDENT, source, at)?.[0];
  if (ident !== undefined) return { kind: 'ident', text: ident, start: at, end: at + ident.length };
  const number = matchAt(NUMBER, source, at)?.[0];
  if (number !== undefined) return numberAt(source, at, number);
  const quoted = matchAt(QUOTED, source, at)?.[0];
  if (quoted !== undefined) return { kind: 'quoted', text: quoted.slice(1, -1), start: at, end: at + quoted.length };
  const operator = matchAt(OPERATOR, source, at)?.[0];
  if (operator !== undefined) return { kind: 'op', text: operator, start: at, end: at + operator.length };
  const character = String.fromCodePoint(source.codePointAt(at) ?? 0);
  throw new CelSyntaxError(`unexpected character ${JSON.stringify(character)}`, source, at);
}

function numberAt(source: string, at: number, text: string): Token {
  const end = at + text.length;
  if (/[A-Za-z0-9_]/.test(source.charAt(end))) throw new CelSyntaxError('malformed number', source, at);
  return { kind: 'literal', text, start: at, end, value: numberOf(source, at, text) };
}

function numberOf(source: string, at: number, text: string): Value {
  const hex = /^0[xX]/.test(text);
  if (!hex && /[.eE]/.test(text)) {
    const value = Number(text);
    if (!Number.isFinite(value)) throw new CelSyntaxError('the number is too large for a double', source, at);
    return new Double(value);
  }
  if (/[uU]$/.test(text)) {
    const value = BigInt(text.slice(0, -1));
    if (value > MAX_UINT) throw new CelSyntaxError('the number is too large for a uint', source, at);
    return new Uint(canonical(value));
  }
  const value = BigInt(text);
  if (value > MAX_MAGNITUDE) throw new CelSyntaxError('the number is too large for an int', source, at);
  return canonical(value);
}

function stringAt(source: string, at: number, opening: string): Token {
  const prefix = opening.replace(/["']+$/, '').toLowerCase();
  const quote = opening.slice(prefix.length);
  const start = at + opening.length;
  const end = closingQuote(source, start, { quote, raw: prefix.includes('r') });
  if (end === -1) throw new CelSyntaxError('the string is not closed', source, at);
  const body = { source, start, end, raw: prefix.includes('r') };
  const value = prefix.includes('b') ? unescapeBytes(body) : unescapeText(body);
  return { kind: 'literal', text: source.slice(at, end), start: at, end: end + quote.length, value };
}

function closingQuote(source: string, start: number, how: { readonly quote: string; readonly raw: boolean }): number {
  const { quote, raw } = how;
  for (let i = start; i < source.length; i++) {
    const character = source[i];
    if (character === '\\' && !raw) i++;
    else if (source.startsWith(quote, i)) return i;
    else if ((character === '\n' || character === '\r') && quote.length === 1) return -1;
  }
  return -1;
}

function matchAt(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function lengthAt(pattern: RegExp, source: string, at: number): number {
  return matchAt(pattern, source, at)?.[0].length ?? 0;
}
