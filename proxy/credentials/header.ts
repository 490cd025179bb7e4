import type { Headers } from '../exchange/headers.ts';
import { octetsOf, textOf } from './octets.ts';

// RFC 9110 section 5.5: what a field value may not hold.
// oxlint-disable-next-line no-control-regex
const NO_FIELD_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** The first value of a header behind `prefix`, which is compared without case; null when it does not begin so. */
export function readHeader(headers: Headers, name: string, prefix: string): string | null {
  const value = headers.get(name);
  if (value === undefined) return null;
  if (prefix === '') return textOf(value);
  const found = value.slice(0, prefix.length);
  if (found !== prefix && !equalsWithoutCase(found, prefix)) return null;
  return textOf(value.slice(prefix.length));
}

/** Takes every value of a header but the first away. */
export function keepFirstHeader(headers: Headers, name: string): void {
  const value = headers.get(name);
  if (value !== undefined) headers.set(name, value);
}

/** Replaces every value of a header. False, with nothing changed, when `value` cannot stand in one. */
export function insertHeader(headers: Headers, name: string, value: string): boolean {
  const octets = octetsOf(value);
  if (NO_FIELD_VALUE.test(octets)) return false;
  headers.set(name, octets);
  return true;
}

/** Without the case of ASCII letters; others, whose lower case may be an ASCII letter, are themselves. */
function equalsWithoutCase(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  for (let i = 0; i < left.length; i++) {
    if (lowerCode(left.charCodeAt(i)) !== lowerCode(right.charCodeAt(i))) return false;
  }
  return true;
}

function lowerCode(code: number): number {
  return code >= 65 && code <= 90 ? code + 32 : code;
}
