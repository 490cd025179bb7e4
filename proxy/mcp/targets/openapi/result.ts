import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { rawNumber } from '../../../../src/shared/raw-number.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { parseExactly } from '../../message/exact-json.ts';
import { mediaBlock, textIn } from './media.ts';
import type { Misfit } from './request.ts';

const MAX_DEPTH = 500;

/** What the service has answered; the bytes are those of the body as it was before it was compressed. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

export interface AnsweredCall {
  /** Path and query of the request. */
  readonly target: string;
  /** Of the protocol, as the client speaks it; null before one is agreed. */
  readonly version: string | null;
}

/**
 * The result of a call that the service has answered. What is no JSON is told with its status; bytes are pictures, sounds or
 * embedded resources. A refusal is an answer too, marked as one.
 */
export function toolResult(answer: Answered, call: AnsweredCall): JsonObject {
  const failed = answer.status >= 400 ? { isError: true } : {};
  const media = mediaBlock(answer, call);
  if (media !== null) return { content: [media], ...failed };
  const told = structured(answer);
  return { content: [{ type: 'text', text: JSON.stringify(told) }], structuredContent: told, ...failed };
}

function structured({ status, headers, bytes }: Answered): JsonObject {
  const text = textIn(headers, bytes);
  const value = parsed(text);
  if (value === undefined || isTooDeep(value)) {
    const location = headers.get('location');
    return { code: status, message: text, ...(location === undefined ? {} : { location }) };
  }
  return isJsonObject(value) && rawNumber(value) === undefined ? value : { data: value };
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
    return parseExactly(text);
  } catch {
    return undefined;
  }
}

/** The result of a call whose arguments do not fit: the model can correct them. */
export function misfitResult({ problem }: Misfit): JsonObject {
  return { content: [{ type: 'text', text: problem }], isError: true };
}
