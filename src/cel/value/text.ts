import { formatDuration, formatTimestamp } from './time.ts';
import { Double, isBytes, isList, isMap, type Value } from './value.ts';
import { REDACTED } from '../../shared/secret.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Longest text or byte sequence that an expression may build. */
export const MAX_TEXT = 16 * 1024 * 1024;

/** Undefined for bytes that are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A double as the language prints it: no `.0` behind whole numbers, exponents with two digits. */
export function formatDouble(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN';
  if (Object.is(value, -0)) return '-0';
  return String(value).replace(/e([+-])(\d)$/, 'e$10$2');
}

/** The text that `string()` gives; undefined for types that have none. */
export function textOf(value: Value): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (value === null || isList(value) || isMap(value)) return undefined;
  if (isBytes(value)) return decodeUtf8(value);
  switch (value.kind) {
    case 'uint':
      return String(value.value);
    case 'double':
      return formatDouble((value satisfies Double).value);
    case 'duration':
      return formatDuration(value);
    case 'timestamp':
      return formatTimestamp(value);
    case 'type':
      return value.name;
    case 'ip':
    case 'cidr':
      return value.toString();
    case 'secret':
      return REDACTED;
    default:
      return undefined;
  }
}

/** Length in code points. */
export function codePoints(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      i++;
    }
  }
  return count;
}
