import type { JsonObject, JsonValue } from '../../../src/shared/json.ts';
import type { Headers } from '../../exchange/headers.ts';
import { withMeta } from './meta.ts';

/** W3C Trace Context and Baggage; under the same names in `_meta`, the only place where programs see them. */
const NAMES = ['traceparent', 'tracestate', 'baggage'] as const;

/** The parameters with the place in a distributed trace that the headers tell; the headers win, being nearer. */
export function withTraceContext(params: JsonObject | undefined, headers: Headers): JsonObject | undefined {
  let entries: Record<string, JsonValue> | null = null;
  for (const name of NAMES) {
    const value = headers.get(name);
    if (value !== undefined) (entries ??= {})[name] = value;
  }
  return entries === null ? params : withMeta(params, entries);
}
