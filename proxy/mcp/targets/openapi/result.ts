import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Misfit } from './request.ts';

const MAX_DEPTH = 500;
const decoder = new TextDecoder();

/** The result of a call that the service has answered. What is no JSON is told with its status. */
export function toolResult(status: number, bytes: Uint8Array): JsonObject {
  const text = decoder.decode(bytes);
  const told = structured(status, text);
  return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told };
}

function structured(status: number, text: string): JsonObject {
  const value = parsed(text);
  if (value === undefined || isTooDeep(value)) return { code: status, message: text };
  return isJsonObject(value) ? value : { data: value };
}

/** Deeper than anybody writes data, and than it can be written out again. */
function isTooDeep(value: JsonValue): boolean {
  let level: readonly JsonValue[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}

function parsed(text: string): JsonValue | undefined {
  try {
    // `as`: what `JSON.parse` gives.
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}

/** The result of a call whose arguments do not fit: the model can correct them. */
export function misfitResult({ problem }: Misfit): JsonObject {
  return { content: [{ type: 'text', text: problem }], isError: true };
}
