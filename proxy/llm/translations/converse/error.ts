import type { JsonObject } from '../../../exchange/attributes.ts';
import type { Headers } from '../../../exchange/headers.ts';
import { object, parseObject, text } from '../../json.ts';
import { foreignError } from '../service-error.ts';

/** What Bedrock says is wrong; of what is none of its errors (a page, nothing at all) only the status is told. */
export function converseError(status: number, body: string): string {
  const parsed = parseObject(body);
  const message =
    text(parsed?.['message']) ?? text(parsed?.['Message']) ?? text(object(parsed?.['error'])?.['message']);
  return message ?? `Bedrock answered with status ${status}`;
}

/** As clients of OpenAI's formats expect it: Bedrock names its errors in a header, or in the body. */
export function completionError(status: number, body: string, headers?: Headers): JsonObject {
  const name = headers?.get('x-amzn-errortype') ?? text(parseObject(body)?.['__type']);
  // `ThrottlingException:http://…`, `com.amazon…#ThrottlingException`
  const code = name?.split(':', 1)[0]?.replace(/^.*#/, '') || null;
  return foreignError(status, converseError(status, body), code);
}
