import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { bool, compact, number, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { noteUncarried } from '../uncarried.ts';
import { chatMessages } from './conversation.ts';

/** Fields that have a place in the other format, whatever it is called. */
const CARRIED = new Set([
  'model',
  'input',
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
]);

/** A request for a response as one for a chat completion. */
export function completionsRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const stream = bool(body['stream']);
  if (number(body['max_output_tokens']) !== undefined) notes.renamed('max_output_tokens', 'max_completion_tokens');
  return compact({
    model,
    messages: chatMessages(body, notes),
    max_completion_tokens: number(body['max_output_tokens']),
    temperature: number(body['temperature']),
    top_p: number(body['top_p']),
    stream,
    stream_options: stream === true ? { include_usage: true } : undefined,
    ...toolFields(body, notes),
    reasoning_effort: reasoningEffort(object(body['reasoning']), notes),
    response_format: responseFormat(object(body['text']), notes),
  });
}

function toolFields(body: JsonObject, notes: Notes) {
  const tools = objects(body['tools']).flatMap((tool, index) => {
    if (tool['type'] === 'function') return [functionTool(tool)];
    notes.dropped(`tools[${index}]`, String(tool['type']));
    return [];
  });
  if (tools.length === 0) return {};
  return {
    tools,
    tool_choice: toolChoice(body['tool_choice'], notes),
    parallel_tool_calls: bool(body['parallel_tool_calls']),
  };
}

function functionTool(tool: JsonObject): JsonObject {
  return {
    type: 'function',
    function: compact({
      name: tool['name'],
      description: tool['description'] ?? undefined,
      parameters: tool['parameters'] ?? undefined,
      strict: tool['strict'] ?? undefined,
    }),
  };
}

function toolChoice(choice: JsonValue | undefined, notes: Notes): JsonValue | undefined {
  if (choice === undefined || choice === null || typeof choice === 'string') return choice ?? undefined;
  const asked = object(choice);
  const name = text(asked?.['name']);
  if (asked?.['type'] === 'function' && name !== undefined) return { type: 'function', function: { name } };
  notes.dropped('tool_choice', String(asked?.['type']));
  return undefined;
}

function reasoningEffort(reasoning: JsonObject | undefined, notes: Notes): string | undefined {
  if (reasoning === undefined) return undefined;
  noteUncarried(reasoning, new Set(['effort']), notes, 'reasoning.');
  const effort = text(reasoning['effort']);
  if (effort === undefined || effort === 'none') return undefined;
  notes.renamed('reasoning.effort', 'reasoning_effort');
  return effort;
}

function responseFormat(asked: JsonObject | undefined, notes: Notes): JsonObject | undefined {
  if (asked === undefined) return undefined;
  noteUncarried(asked, new Set(['format']), notes, 'text.');
  const format = object(asked['format']);
  switch (format?.['type']) {
    case 'json_object':
      notes.renamed('text.format', 'response_format');
      return { type: 'json_object' };
    case 'json_schema': {
      notes.renamed('text.format', 'response_format');
      const { name, schema, description, strict } = format;
      return { type: 'json_schema', json_schema: compact({ name, schema, description, strict: strict ?? undefined }) };
    }
    default:
      return undefined;
  }
}
