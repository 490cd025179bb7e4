import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { badResponse } from '../../failure.ts';
import { list, number, object, objects, text } from '../../json.ts';
import type { SafeNames } from './safe-names.ts';

/** What a model said, block by block. */
export type AnswerBlock =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly id: string; readonly name: string; readonly input: JsonValue }
  | { readonly kind: 'reasoning'; readonly text: string; readonly signature: string }
  /** Reasoning that nobody may read; the service's own text, to be sent back. */
  | { readonly kind: 'redacted'; readonly data: string };

export interface Answer {
  readonly blocks: readonly AnswerBlock[];
  readonly stopReason: string;
  readonly usage: JsonObject;
}

/** Throws an `LlmFailure` for what is no answer. */
export function readAnswer(body: JsonObject, names: SafeNames): Answer {
  const message = object(object(body['output'])?.['message']);
  if (message === undefined || list(message['content']) === undefined)
    throw badResponse('the response has no output message');
  return {
    blocks: objects(message['content']).flatMap((block) => answerBlock(block, names)),
    stopReason: text(body['stopReason']) ?? '',
    usage: object(body['usage']) ?? {},
  };
}

function answerBlock(block: JsonObject, names: SafeNames): readonly AnswerBlock[] {
  const said = text(block['text']);
  if (said !== undefined) return [{ kind: 'text', text: said }];
  const tool = object(block['toolUse']);
  if (tool !== undefined) {
    const name = names.restored(text(tool['name']) ?? '');
    return [{ kind: 'tool', id: text(tool['toolUseId']) ?? '', name, input: tool['input'] ?? {} }];
  }
  const reasoning = object(block['reasoningContent']);
  const thought = object(reasoning?.['reasoningText']);
  if (thought !== undefined)
    return [{ kind: 'reasoning', text: text(thought['text']) ?? '', signature: text(thought['signature']) ?? '' }];
  const data = text(reasoning?.['redactedContent']);
  if (data !== undefined) return [{ kind: 'redacted', data }];
  return citedText(block);
}

/** Text that names its sources is text all the same. */
function citedText(block: JsonObject): readonly AnswerBlock[] {
  const said = objects(object(block['citationsContent'])?.['content'])
    .map((part) => text(part['text']) ?? '')
    .join('');
  return said === '' ? [] : [{ kind: 'text', text: said }];
}

export interface Usage {
  /** Without what the cache holds. */
  readonly input: number;
  readonly output: number;
  readonly total: number;
  readonly read: number | undefined;
  readonly written: number | undefined;
}

export function readUsage(usage: JsonObject): Usage {
  const input = number(usage['inputTokens']) ?? 0;
  const output = number(usage['outputTokens']) ?? 0;
  return {
    input,
    output,
    total: number(usage['totalTokens']) ?? input + output,
    read: number(usage['cacheReadInputTokens']),
    written: number(usage['cacheWriteInputTokens']),
  };
}
