/** Of ECMAScript's "JSON.parse source text access", which the compiler's library does not know yet. */
interface RawJson {
  isRawJSON(value: unknown): value is { readonly rawJSON: string };
}

// `as`: the runtime has it.
const json = JSON as unknown as RawJson;

/** How a number was written that a double does not hold and that stands for itself in JSON; undefined for other values. */
export function rawNumber(value: unknown): string | undefined {
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}
