import { createHash } from 'node:crypto';
import type { FunctionDef } from '../compile/host.ts';
import { BuiltMap } from '../value/map.ts';
import { decodeUtf8, textOf } from '../value/text.ts';
import { CelError, failure, isBytes, isList, isMap, noOverload, type Result, type Value } from '../value/value.ts';
import { call, slow } from './define.ts';

export const encoderFunctions: readonly FunctionDef[] = [
  ...['base64.encode', 'base64Encode'].map((name) =>
    call(name, (value) => onBytes(name, value, (bytes) => bytes.toString('base64'))),
  ),
  ...['base64.decode', 'base64Decode'].map((name) => call(name, decodeBase64)),
  slow(
    8,
    call('url.encode', (value) => onBytes('url.encode', value, percentEncode)),
  ),
  slow(8, call('url.decode', decodeUrl)),
  slow(16, call('form.encode', encodeForm)),
  slow(
    16,
    call('form.decode', (value) => onText('form.decode', value, decodeForm)),
  ),
  ...['sha1', 'sha256', 'md5'].map((hash) =>
    slow(
      4,
      call(`${hash}.encode`, (value) =>
        onBytes(`${hash}.encode`, value, (bytes) => createHash(hash).update(bytes).digest('hex')),
      ),
    ),
  ),
];

function onBytes(name: string, value: Value, apply: (bytes: Buffer) => Result): Result {
  if (typeof value === 'string') return apply(Buffer.from(value));
  return isBytes(value) ? apply(Buffer.from(value.buffer, value.byteOffset, value.length)) : noOverload(name, value);
}

function onText(name: string, value: Value, apply: (text: string) => Result): Result {
  if (typeof value === 'string') return apply(value);
  if (!isBytes(value)) return noOverload(name, value);
  const text = decodeUtf8(value);
  return text === undefined ? failure('the bytes are not UTF-8') : apply(text);
}

function decodeBase64(value: Value): Result {
  return onText('base64.decode', value, (text) => {
    const bare = text.replace(/={1,2}$/, '');
    const padded = bare.length < text.length;
    const valid = /^[A-Za-z0-9+/]*$/.test(bare) && bare.length % 4 !== 1 && (!padded || text.length % 4 === 0);
    return valid ? new Uint8Array(Buffer.from(bare, 'base64')) : failure('not base64');
  });
}

/** Everything but letters, digits and `-._~`. */
function percentEncode(bytes: Buffer): string {
  let out = '';
  for (const byte of bytes) out += ENCODED[byte];
  return out;
}

const ENCODED: readonly string[] = Array.from({ length: 256 }, (_, byte) => {
  const character = String.fromCharCode(byte);
  return /[A-Za-z0-9\-._~]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
});

function decodeUrl(value: Value): Result {
  return onText('url.decode', value, (text) => percentDecode(text) ?? failure('the decoded text is not UTF-8'));
}

/** Percent signs without two digits stay as they are; undefined when what comes out is not UTF-8. */
function percentDecode(text: string): string | undefined {
  if (!text.includes('%')) return text;
  const source = Buffer.from(text);
  const bytes = Buffer.alloc(source.length);
  let length = 0;
  for (let i = 0; i < source.length; i++) {
    const pair = source[i] === 0x25 ? source.toString('latin1', i + 1, i + 3) : '';
    if (/^[0-9A-Fa-f]{2}$/.test(pair)) {
      bytes[length++] = Number.parseInt(pair, 16);
      i += 2;
    } else bytes[length++] = source[i] ?? 0;
  }
  return decodeUtf8(bytes.subarray(0, length));
}

/** Form style: a space is `+`. */
export function formEncode(text: string): string {
  return new URLSearchParams([['', text]]).toString().slice(1);
}

/** Names and values of a query or form, in order. */
export function formPairs(text: string): readonly (readonly [name: string, value: string])[] {
  return [...new URLSearchParams(`&${text}`)];
}

/** A name that comes more than once has a list. */
function decodeForm(text: string): Result {
  const map = new BuiltMap();
  const seen = new Map<string, string[]>();
  for (const [name, value] of formPairs(text)) {
    const values = seen.get(name);
    if (values === undefined) seen.set(name, [value]);
    else values.push(value);
  }
  for (const [name, values] of seen) map.put(name, values.length === 1 ? (values[0] ?? '') : values);
  return map;
}

/** Sorted by name; a list repeats its name, null leaves it out. */
function encodeForm(value: Value): Result {
  if (!isMap(value)) return noOverload('form.encode', value);
  const pairs: [string, string][] = [];
  const names = value.keys().map((key) => ({ key, name: textOf(key) ?? '' }));
  for (const { key, name } of names.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const found = value.get(key) ?? null;
    for (const item of isList(found) ? found : [found]) {
      if (item === null) continue;
      const text = scalarText(item);
      if (text instanceof CelError) return text;
      pairs.push([name, text]);
    }
  }
  return new URLSearchParams(pairs).toString();
}

function scalarText(value: Value): string | CelError {
  if (isBytes(value)) return Buffer.from(value).toString('base64');
  return textOf(value) ?? noOverload('form.encode', value);
}
