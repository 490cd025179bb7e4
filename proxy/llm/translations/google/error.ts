import { isJsonObject, type JsonObject } from '../../../exchange/attributes.ts';
import { googleStatus } from '../../formats/gemini/wire.ts';
import { object, objects, parse, text } from '../../json.ts';

const TYPES: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'invalid_request_error',
  FAILED_PRECONDITION: 'invalid_request_error',
  NOT_FOUND: 'not_found_error',
  PERMISSION_DENIED: 'authentication_error',
  UNAUTHENTICATED: 'authentication_error',
  RESOURCE_EXHAUSTED: 'rate_limit_error',
};

/**
 * An error of Google (`{error: {code, message, status}}`, also in a list, which is how streams fail) as one of OpenAI;
 * undefined for what is none.
 */
export function openaiErrorOfGoogle(httpStatus: number, body: string): JsonObject | undefined {
  const parsed = parse(body);
  const holder = isJsonObject(parsed) ? parsed : objects(parsed).find((entry) => entry['error'] !== undefined);
  return holder && openaiError(holder, httpStatus);
}

/** The same for an event of a stream. */
export function openaiError(holder: JsonObject, httpStatus: number): JsonObject | undefined {
  const { error } = holder;
  const told = object(error);
  const message = text(told?.['message']) ?? text(holder['error_description']) ?? text(error);
  if (message === undefined) return undefined;
  const code = text(told?.['status']) ?? googleStatus(httpStatus);
  return { error: { message, type: TYPES[code] ?? 'api_error', param: null, code } };
}
