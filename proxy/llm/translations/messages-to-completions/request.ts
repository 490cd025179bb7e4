import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { bool, compact, list, number, object, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { refusesThoughtWithTools } from '../gpt.ts';
import { clientTools, openaiToolChoice, outputSchema, parallelToolCalls } from '../message-tools.ts';
import { noteUncarried } from '../uncarried.ts';
import { chatMessages } from './conversation.ts';

/** Fields that have a place in the other format, whatever it is called. */
const CARRIED = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'stop_sequences',
  'stream',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
]);

/** A request for a message as one for a chat completion. */
export function completionsRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const stream = bool(body['stream']);
  const tools = clientTools(body['tools'], notes);
  const schema = outputSchema(body, notes);
  if (body['max_tokens'] !== undefined) notes.renamed('max_tokens', 'max_completion_tokens');
  if (body['stop_sequences'] !== undefined) notes.renamed('stop_sequences', 'stop');
  return compact({
    model,
    messages: chatMessages(body, model, notes),
    max_completion_tokens: number(body['max_tokens']),
    temperature: number(body['temperature']),
    top_p: number(body['top_p']),
    stop: stops(list(body['stop_sequences'])),
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
    user: user(object(body['metadata']), notes),
    ...(tools.length === 0 ? {} : toolFields(tools.map(functionTool), object(body['tool_choice']))),
    reasoning_effort: reasoningEffort(body, { model, withTools: tools.length > 0 }, notes),
    response_format: schema && { type: 'json_schema', json_schema: schema },
  });
}

/** OpenAI takes no list of nothing. */
function stops(sequences: readonly JsonValue[] | undefined): readonly JsonValue[] | undefined {
  return sequences?.length === 0 ? undefined : sequences;
}

function functionTool({ name, description, parameters }: ReturnType<typeof clientTools>[number]): JsonObject {
  return { type: 'function', function: compact({ name, description, parameters }) };
}

function toolFields(tools: readonly JsonObject[], choice: JsonObject | undefined) {
  return {
    tools,
    tool_choice: openaiToolChoice(choice, (name) => ({ type: 'function', function: { name } })),
    parallel_tool_calls: parallelToolCalls(choice),
  };
}

function user(metadata: JsonObject | undefined, notes: Notes): JsonValue | undefined {
  if (metadata === undefined) return undefined;
  noteUncarried(metadata, new Set(['user_id']), notes, 'metadata.');
  const id = text(metadata['user_id']);
  if (id !== undefined) notes.renamed('metadata.user_id', 'user');
  return id;
}

function reasoningEffort(
  body: JsonObject,
  { model, withTools }: { readonly model: string; readonly withTools: boolean },
  notes: Notes,
): string | undefined {
  const thinking = text(object(body['thinking'])?.['type']);
  const effort = text(object(body['output_config'])?.['effort']);
  if (withTools && refusesThoughtWithTools(model)) {
    if (thinking === 'adaptive' || thinking === 'enabled') notes.dropped('thinking', 'the model takes none with tools');
    notes.added('reasoning_effort');
    return 'none';
  }
  if (thinking === 'adaptive') {
    notes.renamed('thinking', 'reasoning_effort');
    return effort ?? 'high';
  }
  if (thinking === 'enabled') notes.dropped('thinking', 'a budget is no effort');
  if (effort !== undefined) notes.dropped('output_config.effort', 'without adaptive thinking');
  return undefined;
}
