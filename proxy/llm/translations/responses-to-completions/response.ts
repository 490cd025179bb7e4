import type { JsonObject } from '../../../exchange/attributes.ts';
import { contentText, thoughtIn } from '../../formats/completions/text.ts';
import { badResponse } from '../../failure.ts';
import { object, objects, text } from '../../json.ts';
import { newId } from '../ids.ts';
import {
  callItem,
  messageItem,
  reasoningItem,
  responseBody,
  responseUsage,
  textPart,
  type ItemStatus,
  type ResponseEnd,
  type ResponseHead,
} from '../response-body.ts';

export function endOf(finish: string | undefined): ResponseEnd {
  switch (finish) {
    case 'length':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'content_filter':
      return { status: 'failed', code: 'content_filter', message: 'Content filtered' };
    default:
      return { status: 'completed' };
  }
}

/** A chat completion as a response. */
export function responseFrom(body: JsonObject, head: ResponseHead): JsonObject {
  const choice = objects(body['choices'])[0];
  const said = object(choice?.['message']);
  if (choice === undefined || said === undefined) throw badResponse('the chat completion has no choices');
  const end = endOf(text(choice['finish_reason']));
  const status = end.status === 'completed' ? 'completed' : 'incomplete';
  const output = [...thought(said), ...message(said, status), ...calls(said, status)];
  return responseBody(head, { end, output, usage: responseUsage(object(body['usage']) ?? {}) });
}

function thought(said: JsonObject): readonly JsonObject[] {
  const aloud = thoughtIn(said);
  return aloud === '' ? [] : [reasoningItem(newId('rs_'), aloud)];
}

function message({ content, refusal }: JsonObject, status: ItemStatus): readonly JsonObject[] {
  const said = contentText(content) ?? '';
  const refused = text(refusal) ?? '';
  const parts = [
    ...(said === '' ? [] : [textPart('output_text', said)]),
    ...(refused === '' ? [] : [textPart('refusal', refused)]),
  ];
  return parts.length === 0 ? [] : [messageItem(newId('msg_'), parts, status)];
}

function calls(said: JsonObject, status: ItemStatus): readonly JsonObject[] {
  return objects(said['tool_calls']).flatMap((call) => {
    const fn = object(call['function']);
    if (fn === undefined) return [];
    const id = text(call['id']) || newId('call_');
    return [callItem(id, text(fn['name']) ?? '', text(fn['arguments']) || '{}', status)];
  });
}
