import { CelSyntaxError } from './syntax-error.ts';

/** What stands between the quotes of a literal. */
export interface LiteralBody {
  readonly source: string;
  readonly start: number;
  readonly end: number;
  readonly raw: boolean;
}

const SIMPLE: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '`': '`',
  '?': '?',
};

/** How many hexadecimal digits follow. */
const HEX_DIGITS: Readonly<Record<string, number>> = { x: 2, X: 2, u: 4, U: 8 };

/** The text of a string literal; numeric escapes are code points. */
export function unescapeText(body: LiteralBody): string {
  return unescape(body, (code, at) => {
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
      throw new CelSyntaxError('the escape is no Unicode character', body.source, at);
    }
    return String.fromCodePoint(code);
  }).join('');
}

/** The bytes of a bytes literal: text as UTF-8, `\x` and octal escapes as single bytes. */
export function unescapeBytes(body: LiteralBody): Uint8Array {
  const pieces = unescape(body, (code, at, letter) => {
    if (letter === 'u' || letter === 'U') {
      throw new CelSyntaxError(`\\${letter} is not for bytes`, body.source, at);
    }
    return Uint8Array.of(code);
  });
  return new Uint8Array(Buffer.concat(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece))));
}

type Numeric<T> = (code: number, at: number, letter: string) => T;

function unescape<T>(body: LiteralBody, numeric: Numeric<T>): (string | T)[] {
  const { source, start, end, raw } = body;
  const text = source.slice(start, end);
  if (raw || !text.includes('\\')) return [text.replaceAll('\r\n', '\n').replaceAll('\r', '\n')];
  const pieces: (string | T)[] = [];
  let at = start;
  while (at < end) {
    const backslash = source.indexOf('\\', at);
    const stop = backslash === -1 || backslash >= end ? end : backslash;
    if (stop > at) pieces.push(source.slice(at, stop).replaceAll('\r\n', '\n').replaceAll('\r', '\n'));
    if (stop === end) break;
    const letter = source.charAt(stop + 1);
    const simple = SIMPLE[letter];
    if (simple === undefined) {
      const { code, length } = codeAt(body, stop);
      pieces.push(numeric(code, stop, letter));
      at = stop + length;
    } else {
      pieces.push(simple);
      at = stop + 2;
    }
  }
  return pieces;
}

function codeAt({ source, end }: LiteralBody, at: number): { readonly code: number; readonly length: number } {
  const digits = HEX_DIGITS[source.charAt(at + 1)];
  if (digits !== undefined) {
    const hex = source.slice(at + 2, Math.min(end, at + 2 + digits));
    if (hex.length === digits && /^[0-9a-fA-F]+$/.test(hex))
      return { code: Number.parseInt(hex, 16), length: digits + 2 };
  }
  const octal = source.slice(at + 1, Math.min(end, at + 4));
  if (/^[0-3][0-7]{2}$/.test(octal)) return { code: Number.parseInt(octal, 8), length: 4 };
  throw new CelSyntaxError('unknown escape', source, at);
}
