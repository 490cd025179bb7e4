import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { rawNumber } from '../../../../src/shared/raw-number.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { encodeHeaderValue } from '../../message/routing-headers.ts';

/** A header that repeats an argument (2026-07-28, "Schema Extension"). */
interface Declared {
  readonly header: string;
  /** Members of the arguments, from the outside in. */
  readonly path: readonly string[];
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
/** A target that describes more of them does not get them. */
const MAX_TOOLS = 10_000;
const MAX_DEPTH = 20;

/**
 * The headers that the tools of one modern target want, which modern clients read from its list of tools. For the others
 * the gateway remembers them.
 */
export class ParamHeaders {
  readonly #tools = new Map<string, readonly Declared[]>();

  /** Reads a result of `tools/list`. */
  learn(result: JsonObject): void {
    const tools = result['tools'];
    if (!Array.isArray(tools)) return;
    for (const tool of tools) {
      if (!isJsonObject(tool) || typeof tool['name'] !== 'string') continue;
      const declared: Declared[] = [];
      collect(tool['inputSchema'], [], declared);
      if (declared.length === 0) this.#tools.delete(tool['name']);
      else if (this.#tools.size < MAX_TOOLS) this.#tools.set(tool['name'], declared);
    }
  }

  /** Headers of a `tools/call` with those that its tool wants; the same object where it wants none. */
  added(headers: Headers, params: JsonObject | undefined): Headers {
    const name = params?.['name'];
    const declared = typeof name === 'string' ? this.#tools.get(name) : undefined;
    if (declared === undefined) return headers;
    const more = headers.clone();
    for (const { header, path } of declared) {
      const found = valueAt(params?.['arguments'], path);
      const value = rawNumber(found) ?? found;
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        more.set(`mcp-param-${header.toLowerCase()}`, encodeHeaderValue(String(value)));
    }
    return more;
  }
}

/** Only what is reached through `properties` alone counts: elsewhere there is no one place in the arguments. */
function collect(schema: JsonValue | undefined, path: readonly string[], into: Declared[]): void {
  if (!isJsonObject(schema) || path.length > MAX_DEPTH) return;
  const header = schema['x-mcp-header'];
  if (typeof header === 'string' && path.length > 0 && TOKEN.test(header)) into.push({ header, path });
  const { properties } = schema;
  if (!isJsonObject(properties)) return;
  for (const [name, child] of Object.entries(properties)) collect(child, [...path, name], into);
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let at = value;
  for (const name of path) at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}
