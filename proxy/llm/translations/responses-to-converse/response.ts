import type { JsonObject } from '../../../exchange/attributes.ts';
import { readAnswer, readUsage, type AnswerBlock } from '../converse/answer.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { newId } from '../ids.ts';
import {
  callItem,
  messageItem,
  reasoningItem,
  responseBody,
  textPart,
  type ItemStatus,
  type ResponseEnd,
  type ResponseHead,
} from '../response-body.ts';

export function endOf(stop: string): ResponseEnd {
  switch (stop) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return { status: 'incomplete', reason: 'max_output_tokens' };
    case 'content_filtered':
    case 'guardrail_intervened':
      return { status: 'failed', code: 'content_filter', message: 'Content filtered by guardrails' };
    default:
      return { status: 'completed' };
  }
}

/** An answer as a response. Throws an `LlmFailure` for what is none. */
export function responseFrom(body: JsonObject, head: ResponseHead, tools: SafeNames): JsonObject {
  const { blocks, stopReason, usage } = readAnswer(body, tools);
  const end = endOf(stopReason);
  const status = end.status === 'completed' ? 'completed' : 'incomplete';
  const output = [
    ...blocks.flatMap(thought),
    ...message(blocks, status),
    ...blocks.flatMap((one) => call(one, status)),
  ];
  return responseBody(head, { end, output, usage: responseUsage(usage) });
}

function thought(block: AnswerBlock): readonly JsonObject[] {
  return block.kind === 'reasoning' && block.text !== ''
    ? [reasoningItem(newId('rs_'), block.text, block.signature)]
    : [];
}

function message(blocks: readonly AnswerBlock[], status: ItemStatus): readonly JsonObject[] {
  const said = blocks.flatMap((block) => (block.kind === 'text' && block.text !== '' ? [block.text] : [])).join('');
  return said === '' ? [] : [messageItem(newId('msg_'), [textPart('output_text', said)], status)];
}

function call(block: AnswerBlock, status: ItemStatus): readonly JsonObject[] {
  return block.kind === 'tool' ? [callItem(block.id, block.name, JSON.stringify(block.input), status)] : [];
}

/** Clients see the service's own numbers: what its cache holds is not among the input. */
export function responseUsage(usage: JsonObject): JsonObject {
  const { input, output, total, read } = readUsage(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: read ?? 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: total,
  };
}
