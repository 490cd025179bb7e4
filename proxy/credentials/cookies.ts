import type { Headers } from '../exchange/headers.ts';
import { octetsOf, textOf } from './octets.ts';

// RFC 6265 section 4.1.1: what would end a cookie's value, or the header.
// oxlint-disable-next-line no-control-regex
const NO_COOKIE_VALUE = /[^\u0021-\u003a\u003c-\u007e\u0080-\u00ff]/;

/** The value of the first cookie of that name, neither unquoted nor unescaped; null when there is none. */
export function readCookie(headers: Headers, name: string): string | null {
  for (let i = headers.names.indexOf('cookie'); i !== -1; i = headers.names.indexOf('cookie', i + 1)) {
    const value = valueIn(headers.values[i] ?? '', name);
    if (value !== null) return textOf(value);
  }
  return null;
}

/** Takes the cookies of that name away; the others stay, and a header without cookies goes. */
export function removeCookie(headers: Headers, name: string): void {
  const lines = headers.getAll('cookie');
  if (!lines.some((line) => valueIn(line, name) !== null)) return;
  write(headers, without(lines, name));
}

/** Takes the cookies of that name but the first away. */
export function keepFirstCookie(headers: Headers, name: string): void {
  let seen = false;
  const lines = headers.getAll('cookie');
  const all = lines.flatMap((line) => line.split(';')).map((cookie) => cookie.trim());
  const kept = all.filter((cookie) => {
    if (cookie === '' || valueIn(cookie, name) === null) return cookie !== '';
    const first = !seen;
    seen = true;
    return first;
  });
  if (kept.length < all.length) write(headers, kept);
}

/** Adds a cookie instead of those of that name. False, with nothing changed, when no cookie can hold the value. */
export function insertCookie(headers: Headers, name: string, value: string): boolean {
  const octets = octetsOf(value);
  if (NO_COOKIE_VALUE.test(octets)) return false;
  write(headers, [...without(headers.getAll('cookie'), name), `${name}=${octets}`]);
  return true;
}

/** One line, as RFC 6265 section 5.4 wants it, in the place of the first. */
function write(headers: Headers, cookies: readonly string[]): void {
  if (cookies.length === 0) headers.remove('cookie');
  else headers.set('cookie', cookies.join('; '));
}

function without(lines: readonly string[], name: string): string[] {
  return lines
    .flatMap((line) => line.split(';'))
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie !== '' && valueIn(cookie, name) === null);
}

/** Walks the line without splitting it: most cookies belong to somebody else. */
function valueIn(line: string, name: string): string | null {
  for (let from = 0; from < line.length;) {
    const end = line.indexOf(';', from);
    const to = end === -1 ? line.length : end;
    const start = skipBlanks(line, from);
    if (line.startsWith(name, start)) {
      const equals = skipBlanks(line, start + name.length);
      if (equals < to && line.charCodeAt(equals) === 61) return line.slice(equals + 1, to).trim();
    }
    from = to + 1;
  }
  return null;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === 32 || line.charCodeAt(at) === 9) at += 1;
  return at;
}
