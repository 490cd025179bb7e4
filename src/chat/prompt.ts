import { asArray, asObject, asText, isObject, type JsonObject } from '../admin/protocol/lenient.ts';
import { parseObject } from './reader.ts';

/** What was asked last in a recorded body of a request, in any chat format; undefined when that is none. */
export function promptIn(text: string): string | undefined {
  const body = parseObject(text);
  if (body === undefined) return undefined;
  if (typeof body['input'] === 'string') return body['input'];
  const turns = [body['messages'], body['contents'], body['input']].find((list) => Array.isArray(list));
  if (turns === undefined) return undefined;
  const asked = asArray(turns).map(asObject).filter(isOfUser);
  return asked.map(textOf).findLast((said) => said !== '');
}

function isOfUser(turn: JsonObject): boolean {
  return turn['role'] === 'user' || (turn['role'] === undefined && turn['type'] !== 'function_call');
}

function textOf(turn: JsonObject): string {
  const content = turn['content'] ?? turn['parts'];
  if (typeof content === 'string') return content;
  return asArray(content)
    .flatMap((part) => (isObject(part) ? (asText(part['text']) ?? []) : []))
    .join(' ');
}
