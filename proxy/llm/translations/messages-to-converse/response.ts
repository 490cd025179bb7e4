import { randomBytes } from 'node:crypto';

import type { JsonObject } from '../../../exchange/attributes.ts';
import { compact } from '../../json.ts';
import { readAnswer, readUsage, type AnswerBlock } from '../converse/answer.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { messageOf } from '../message-answer.ts';

const STOP_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'end_turn',
  stop_sequence: 'stop_sequence',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'model_context_window_exceeded',
  tool_use: 'tool_use',
  content_filtered: 'refusal',
  guardrail_intervened: 'refusal',
};

export function stopReason(stop: string): string {
  return STOP_REASONS[stop] ?? 'end_turn';
}

export interface AnswerFacts {
  readonly model: string;
  readonly nowMs: number;
  readonly tools: SafeNames;
}

/** An answer as a message. Throws an `LlmFailure` for what is none. */
export function messageFrom(body: JsonObject, { model, nowMs, tools }: AnswerFacts): JsonObject {
  const answer = readAnswer(body, tools);
  return messageOf({
    id: messageId(nowMs),
    model,
    content: answer.blocks.map(block),
    stopReason: stopReason(answer.stopReason),
    usage: messageUsage(answer.usage),
  });
}

export function messageId(nowMs: number): string {
  return `msg_${nowMs.toString(16)}${randomBytes(4).toString('hex')}`;
}

function block(said: AnswerBlock): JsonObject {
  switch (said.kind) {
    case 'text':
      return { type: 'text', text: said.text };
    case 'tool':
      return { type: 'tool_use', id: said.id, name: said.name, input: said.input };
    case 'reasoning':
      return { type: 'thinking', thinking: said.text, signature: said.signature };
    case 'redacted':
      return { type: 'redacted_thinking', data: said.data };
  }
}

export function messageUsage(usage: JsonObject): JsonObject {
  const { input, output, read, written } = readUsage(usage);
  return compact({
    input_tokens: input,
    output_tokens: output,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
  });
}
