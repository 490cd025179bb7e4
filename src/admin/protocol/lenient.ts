/** Readers for JSON of unknown make: a value of another type than wished for counts as absent, and nothing throws. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function asArray(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Entries of an object or, for servers that list what others key, the items of an array. */
export function valuesOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

export function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

export function asNumber(value: unknown): number | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (typeof value === 'string' && value.trim() !== '') {
    const parsed = Number(value);
    return Number.isFinite(parsed) ? parsed : undefined;
  }
  return undefined;
}

export function textsOf(value: unknown): readonly string[] {
  return asArray(value).flatMap((item) => asText(item) ?? []);
}

/** The only key of a `{kind: {...}}` object and its value; a bare string is a kind without a value. */
export function variantOf(value: unknown): { readonly kind: string; readonly value: unknown } | undefined {
  if (typeof value === 'string') return { kind: value, value: undefined };
  if (!isObject(value)) return undefined;
  const [entry] = Object.entries(value).filter(([key]) => key !== 'phase');
  return entry === undefined ? undefined : { kind: entry[0], value: entry[1] };
}
