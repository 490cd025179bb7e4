import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { rawNumber } from '../../../../src/shared/raw-number.ts';
import type { ParameterPlan } from './plan.ts';

/** Null for what has no text: nothing, and what has parts. */
export function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : (rawNumber(value) ?? null);
}

/** What is inside something else: its text, else JSON. */
export function innerText(value: JsonValue): string {
  return textOf(value) ?? JSON.stringify(value);
}

/** Has members, and is not one of the numbers that stand for themselves. */
export function hasMembers(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value) && rawNumber(value) === undefined;
}

/** All but the unreserved characters of RFC 3986 section 2.3. */
export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** In a path or a header, each piece of it `written`; null for nothing. */
export function expanded(
  plan: ParameterPlan,
  value: JsonValue | undefined,
  written: (text: string) => string,
): string | null {
  const { name, style, explode } = plan;
  const scalar = textOf(value);
  const parts = scalar === null ? partsOf(value, explode, written) : [written(scalar)];
  if (parts === null) return null;
  if (style === 'label') return `.${parts.join(explode ? '.' : ',')}`;
  if (style !== 'matrix') return parts.join(',');
  if (!explode || scalar !== null) return `;${name}=${parts.join(',')}`;
  return parts.map((part) => (Array.isArray(value) ? `;${name}=${part}` : `;${part}`)).join('');
}

function partsOf(
  value: JsonValue | undefined,
  explode: boolean,
  written: (text: string) => string,
): readonly string[] | null {
  if (Array.isArray(value)) return value.length === 0 ? null : value.map((each) => written(innerText(each)));
  if (!hasMembers(value)) return null;
  const parts = Object.entries(value).flatMap(([member, each]) => {
    const [key, text] = [written(member), written(innerText(each))];
    return explode ? [`${key}=${text}`] : [key, text];
  });
  return parts.length === 0 ? null : parts;
}
