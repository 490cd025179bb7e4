import type { FunctionDef } from '../compile/host.ts';
import { decodeUtf8 } from '../value/text.ts';
import { failure, noOverload, noSuchKey, type CelMap, type Result, type Value } from '../value/value.ts';
import { REDACTED } from '../../shared/secret.ts';
import { method } from './define.ts';

/** Fields of a message: lower-case names and values by position. A character of a value is one byte. */
export interface Fields {
  readonly names: readonly string[];
  readonly values: readonly string[];
}

type Shape = 'plain' | 'join' | 'raw' | 'split';

/** Headers as a map: one value is a text, several are a list; `join`, `raw` and `split` make another shape of it. */
export class HeaderMap implements CelMap {
  readonly kind = 'map';
  readonly fields: Fields;
  readonly #isSensitive: (name: string) => boolean;
  readonly #shape: Shape;
  readonly #redacted: boolean;

  constructor(fields: Fields, isSensitive: (name: string) => boolean, shape: Shape = 'plain', redacted = false) {
    this.fields = fields;
    this.#isSensitive = isSensitive;
    this.#shape = shape;
    this.#redacted = redacted;
  }

  get size(): number {
    return this.keys().length;
  }

  get weight(): number {
    return this.fields.names.length;
  }

  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return undefined;
    const name = key.toLowerCase();
    const values = valuesOf(this.fields, name);
    if (values === undefined) return undefined;
    return this.#shaped(this.#redacted && this.#isSensitive(name) ? values.map(() => REDACTED) : values);
  }

  keys(): readonly string[] {
    return [...new Set(this.fields.names)].filter((name) => valuesOf(this.fields, name) !== undefined);
  }

  shaped(as: Shape): HeaderMap {
    return new HeaderMap(this.fields, this.#isSensitive, as, this.#redacted);
  }

  redacted(): HeaderMap {
    return new HeaderMap(this.fields, this.#isSensitive, this.#shape, true);
  }

  #shaped(values: readonly string[]): Value {
    switch (this.#shape) {
      case 'join':
        return values.join(',');
      case 'raw':
        return values;
      case 'split':
        return values.flatMap((value) => value.split(',').map((piece) => piece.trim()));
      case 'plain':
        return values.length === 1 ? (values[0] ?? '') : values;
    }
  }
}

/** Every value of a lower-case name; undefined when there is none or one is not UTF-8. */
function valuesOf({ names, values }: Fields, name: string): readonly string[] | undefined {
  let found: string[] | undefined;
  for (let i = names.indexOf(name); i !== -1; i = names.indexOf(name, i + 1)) {
    const text = fieldText(values[i] ?? '');
    if (text === undefined) return undefined;
    (found ??= []).push(text);
  }
  return found;
}

/** The first value of a lower-case name. */
export function firstValue({ names, values }: Fields, name: string): string | undefined {
  const at = names.indexOf(name);
  return at === -1 ? undefined : fieldText(values[at] ?? '');
}

/** A field value as text: its bytes are UTF-8, or it counts as missing. */
export function fieldText(value: string): string | undefined {
  for (let i = 0; i < value.length; i++) {
    if (value.charCodeAt(i) > 0x7f) return decodeUtf8(Buffer.from(value, 'latin1'));
  }
  return value;
}

export const headerFunctions: readonly FunctionDef[] = [
  method('join', (headers) => reshaped('join', headers)),
  method('raw', (headers) => reshaped('raw', headers)),
  method('split', (headers) => reshaped('split', headers)),
  method('redacted', (headers) =>
    headers instanceof HeaderMap ? headers.redacted() : noOverload('redacted', headers),
  ),
  method('cookie', cookie),
];

function reshaped(name: Exclude<Shape, 'plain'>, headers: Value): Result {
  return headers instanceof HeaderMap ? headers.shaped(name) : noOverload(name, headers);
}

/** The first cookie of that name over all Cookie fields. */
function cookie(headers: Value, name: Value): Result {
  if (!(headers instanceof HeaderMap) || typeof name !== 'string') return noOverload('cookie', headers, name);
  const { names, values } = headers.fields;
  for (const [i, field] of names.entries()) {
    if (field !== 'cookie') continue;
    const text = values[i] ?? '';
    if (/[^\x20-\x7e\t]/.test(text)) return failure('a cookie is not ASCII');
    for (const pair of text.split(';')) {
      const equals = pair.indexOf('=');
      if (equals === -1 && pair.trim() !== '') return failure('a cookie without a value');
      if (pair.slice(0, equals).trim() === name)
        return pair
          .slice(equals + 1)
          .trim()
          .replace(/^"(.*)"$/, '$1');
    }
  }
  return noSuchKey(name);
}
