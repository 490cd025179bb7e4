import { object, parseObject, text } from '../../json.ts';

/** What Bedrock says is wrong; of what is none of its errors (a page, nothing at all) only the status is told. */
export function converseError(status: number, body: string): string {
  const parsed = parseObject(body);
  const message =
    text(parsed?.['message']) ?? text(parsed?.['Message']) ?? text(object(parsed?.['error'])?.['message']);
  return message ?? `Bedrock answered with status ${status}`;
}
