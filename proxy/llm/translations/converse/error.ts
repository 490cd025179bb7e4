import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, parseObject, text } from '../../json.ts';

/** What Bedrock says is wrong; of what is none of its errors (a page, nothing at all) only the status is told. */
export function converseError(status: number, body: string): string {
  const parsed = parseObject(body);
  const message =
    text(parsed?.['message']) ?? text(parsed?.['Message']) ?? text(object(parsed?.['error'])?.['message']);
  return message ?? `Bedrock answered with status ${status}`;
}

/** As clients of OpenAI's formats expect it. */
export function completionError(message: string): JsonObject {
  return { event_id: null, error: { type: 'invalid_request_error', message, param: null, code: null } };
}
