import type { JsonObject } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { list, object, objects, parse, text } from '../../json.ts';
import { messageOf, messageUsage, toolInput } from '../message-answer.ts';

/** A response as a message. `model` is the request's, where the answer names none. */
export function messageFrom(body: JsonObject, model: string): JsonObject {
  if (list(body['output']) === undefined) throw badResponse('the response has no output');
  refuseUnfinished(body);
  const items = objects(body['output']);
  const content = items.flatMap(blocksOf);
  const ending = { called: content.some(({ type }) => type === 'tool_use'), refused: items.some(refused) };
  return messageOf({
    id: text(body['id']),
    model: text(body['model']) ?? model,
    content,
    stopReason: stopReason(body, ending),
    usage: messageUsage(object(body['usage']), 'responses'),
  });
}

function refuseUnfinished(body: JsonObject): void {
  const status = text(body['status']) ?? 'completed';
  if (status === 'completed' || status === 'incomplete') return;
  const why = text(object(body['error'])?.['message']);
  throw badResponse(`the response is ${status}${why === undefined ? '' : `: ${why}`}`);
}

export interface Ending {
  readonly called: boolean;
  readonly refused: boolean;
}

/** Throws for a response that is incomplete for a reason that Anthropic has no word for. */
export function stopReason(response: JsonObject, { called, refused: declined }: Ending): string {
  if (response['status'] === 'incomplete') return incomplete(object(response['incomplete_details']));
  if (called) return 'tool_use';
  return declined ? 'refusal' : 'end_turn';
}

function incomplete(details: JsonObject | undefined): string {
  const reason = text(details?.['reason']);
  if (reason === undefined || reason.includes('max') || reason.includes('token')) return 'max_tokens';
  if (reason.includes('context')) return 'model_context_window_exceeded';
  if (reason === 'content_filter') return 'refusal';
  throw badResponse(`the response is incomplete: ${reason}`);
}

function refused(item: JsonObject): boolean {
  return item['type'] === 'message' && objects(item['content']).some(({ type }) => type === 'refusal');
}

function blocksOf(item: JsonObject): readonly JsonObject[] {
  switch (item['type']) {
    case 'message':
      return objects(item['content']).map((part) => ({ type: 'text', text: said(part) }));
    case 'function_call':
      return toolUse(item);
    case 'reasoning':
      return [];
    default:
      throw badResponse(`the response has an item of the kind ${String(item['type'])}`);
  }
}

function said(part: JsonObject): string {
  if (part['type'] === 'refusal') return text(part['refusal']) ?? '';
  if (part['type'] !== 'output_text') throw badResponse(`the response has a part of the kind ${String(part['type'])}`);
  if (objects(part['annotations']).length > 0) throw badResponse('the response has annotations');
  if (objects(part['logprobs']).length > 0) throw badResponse('the response has logprobs');
  return text(part['text']) ?? '';
}

/** A call that was cut cannot be run. */
function toolUse(item: JsonObject): readonly JsonObject[] {
  const source = text(item['arguments']) ?? '';
  if (source.trim() !== '' && parse(source) === undefined) {
    if (item['status'] === 'incomplete') return [];
    throw badResponse('the arguments of a tool call are no JSON');
  }
  const id = text(item['call_id']) ?? text(item['id']) ?? '';
  return [{ type: 'tool_use', id, name: text(item['name']) ?? '', input: toolInput(source) }];
}
