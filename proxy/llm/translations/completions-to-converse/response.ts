import type { JsonObject } from '../../../exchange/attributes.ts';
import { compact } from '../../json.ts';
import { readAnswer, readUsage, type AnswerBlock } from '../converse/answer.ts';
import type { SafeNames } from '../converse/safe-names.ts';

const FINISH_REASONS: Readonly<Record<string, string>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  content_filtered: 'content_filter',
  guardrail_intervened: 'content_filter',
};

export function finishReason(stop: string): string {
  return FINISH_REASONS[stop] ?? 'stop';
}

export interface AnswerFacts {
  readonly model: string;
  readonly nowMs: number;
  readonly tools: SafeNames;
}

/** An answer as one of a chat completion. Throws an `LlmFailure` for what is none. */
export function completionOf(body: JsonObject, { model, nowMs, tools }: AnswerFacts): JsonObject {
  const { blocks, stopReason, usage } = readAnswer(body, tools);
  return {
    id: completionId(nowMs),
    object: 'chat.completion',
    created: Math.floor(nowMs / 1000),
    model,
    choices: [{ index: 0, message: message(blocks), finish_reason: finishReason(stopReason) }],
    usage: completionUsage(usage),
  };
}

export function completionId(nowMs: number): string {
  return `bedrock-${nowMs}`;
}

function message(blocks: readonly AnswerBlock[]): JsonObject {
  const said = blocks.filter((block) => block.kind === 'text');
  const thought = blocks.filter((block) => block.kind === 'reasoning');
  const calls = blocks.filter((block) => block.kind === 'tool');
  const signature = thought.findLast((block) => block.signature !== '')?.signature;
  return compact({
    role: 'assistant',
    content: said.length === 0 ? null : said.map((block) => block.text).join(''),
    reasoning_content: nonEmpty(thought.map((block) => block.text).join('')),
    reasoning_signature: signature,
    tool_calls:
      calls.length === 0
        ? undefined
        : calls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: JSON.stringify(input) },
          })),
  });
}

function nonEmpty(value: string): string | undefined {
  return value === '' ? undefined : value;
}

/** Clients see the service's own numbers: what its cache holds is not among the prompt tokens. */
export function completionUsage(usage: JsonObject): JsonObject {
  const { input, output, total, read, written } = readUsage(usage);
  const cached = read !== undefined || written !== undefined;
  return compact({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: total,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    prompt_tokens_details: cached ? compact({ cached_tokens: read, cache_write_tokens: written }) : undefined,
  });
}
