import { formatDuration, formatTimestamp } from './time.ts';
import { formatDouble } from './text.ts';
import { CelError, isBytes, isList, isMap, Optional, type Result, type Value } from './value.ts';
import { REDACTED } from '../../shared/secret.ts';

/** Pieces that one text shows of a value at most. */
const MAX_PIECES = 500;

/** A value as a literal of the language would be written, or nearly: for people. */
export function notationOf(value: Result): string {
  return value instanceof CelError ? `error: ${value.message}` : write(value, { left: MAX_PIECES });
}

function write(value: Value, pieces: { left: number }): string {
  if (pieces.left-- <= 0) return '…';
  if (typeof value === 'string') return textNotation(value);
  if (value === null || typeof value !== 'object') return String(value);
  if (isBytes(value)) return bytesNotation(value);
  if (isList(value))
    return `[${shownOf(value, pieces)
      .map((item) => write(item, pieces))
      .join(', ')}]`;
  if (isMap(value)) {
    const entries = shownOf(value.keys(), pieces).map(
      (key) => `${write(key, pieces)}: ${write(value.get(key) ?? null, pieces)}`,
    );
    return `{${entries.join(', ')}}`;
  }
  switch (value.kind) {
    case 'uint':
      return `${value.value}u`;
    case 'double':
      return Number.isInteger(value.value) ? `${formatDouble(value.value)}.0` : formatDouble(value.value);
    case 'duration':
      return `duration("${formatDuration(value)}")`;
    case 'timestamp':
      return `timestamp("${formatTimestamp(value)}")`;
    case 'type':
      return value.name;
    case 'optional':
      return optionalText(value, pieces);
    case 'secret':
      return REDACTED;
    case 'ip':
    case 'cidr':
      return `${value.kind}("${value.toString()}")`;
    case 'flattened':
      return `flatten(${write(value.value, pieces)})`;
  }
}

/** What JSON leaves as it is and a terminal would not. */
function textNotation(text: string): string {
  return JSON.stringify(text).replaceAll(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Beyond what can be shown, one more stands for the rest. */
function shownOf(list: readonly Value[], pieces: { left: number }): readonly Value[] {
  return list.slice(0, Math.max(0, pieces.left) + 1);
}

function optionalText({ value }: Optional, pieces: { left: number }): string {
  return value === undefined ? 'optional.none()' : `optional.of(${write(value, pieces)})`;
}

/** In the quotes that it has none of: JSON stays readable. */
function bytesNotation(bytes: Uint8Array): string {
  const quote = bytes.includes(0x22) ? "'" : '"';
  return `b${quote}${bytesText(bytes, quote.charCodeAt(0))}${quote}`;
}

function bytesText(bytes: Uint8Array, quote: number): string {
  let text = '';
  for (const byte of bytes.subarray(0, 1000)) {
    const printable = byte >= 0x20 && byte < 0x7f && byte !== quote && byte !== 0x5c;
    text += printable ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return bytes.length > 1000 ? `${text}…` : text;
}
