import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { bool, compact, list, number, object, objects, text } from '../../json.ts';
import type { Notes, RequestFacts } from '../contract.ts';
import { betasFor } from '../converse/betas.ts';
import { MarkedCachePoints } from '../converse/cache-points.ts';
import { alternating, converseBody, textFormat } from '../converse/request.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { any, auto, chosen, toolSpec, type ToolChoice } from '../converse/tool-config.ts';
import { noteUncarried } from '../uncarried.ts';
import { BlockReader } from './messages.ts';

const CARRIED = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'metadata',
]);

/** A request for a message as a Converse request. */
export function converseRequest(body: JsonObject, facts: RequestFacts, names: SafeNames, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const points = new MarkedCachePoints(notes);
  const reader = new BlockReader({ tools: names, points, notes });
  const thinks = object(body['thinking'])?.['type'] === 'enabled';
  const tools = declaredTools(body, notes);
  // Names of declared tools come first, so that they are the ones that stay as they are.
  for (const { tool } of tools) names.of(text(tool['name']) ?? '');
  const toolChoice = choice(object(body['tool_choice']), { names, notes, thinks });
  const messages = objects(body['messages']);
  const system = [...reader.system(body['system'], 'system'), ...systemTurns(messages, reader)];
  const turns = messages.flatMap((message, index) =>
    message['role'] === 'system' ? [] : [reader.turn(message, `messages[${index}]`)],
  );
  return converseBody(
    {
      system,
      messages: alternating(turns),
      tools: tools.flatMap(({ tool, path }) => [declaration(tool, names), ...points.after(tool, path)]),
      toolChoice,
      inference: {
        maxTokens: number(body['max_tokens']),
        // Models that think refuse all of them.
        temperature: sampling(body, 'temperature', { thinks, notes }),
        topP: sampling(body, 'top_p', { thinks, notes }),
        stopSequences: list(body['stop_sequences']),
      },
      additional: additional(body, facts, { thinks, notes }),
      outputConfig: outputConfig(object(object(body['output_config'])?.['format']), notes),
    },
    facts,
    notes,
  );
}

interface Thinking {
  readonly thinks: boolean;
  readonly notes: Notes;
}

function sampling(body: JsonObject, field: string, { thinks, notes }: Thinking): number | undefined {
  const value = number(body[field]);
  if (!thinks || value === undefined) return value;
  notes.dropped(field, 'the model thinks');
  return undefined;
}

/** Turns of the system join what the request says at its beginning. */
function systemTurns(messages: readonly JsonObject[], reader: BlockReader): readonly JsonObject[] {
  return messages.flatMap((message, index) =>
    message['role'] === 'system' ? reader.system(message['content'], `messages[${index}].content`) : [],
  );
}

interface DeclaredTool {
  readonly tool: JsonObject;
  readonly path: string;
}

/** Tools that Anthropic's own servers run have no place at Bedrock. */
function declaredTools(body: JsonObject, notes: Notes): readonly DeclaredTool[] {
  return objects(body['tools']).flatMap((tool, index) => {
    const path = `tools[${index}]`;
    if (tool['type'] !== undefined && tool['type'] !== null && tool['type'] !== 'custom') {
      notes.dropped(path, String(tool['type']));
      return [];
    }
    for (const field of Object.keys(tool)) if (!TOOL_FIELDS.has(field)) notes.dropped(`${path}.${field}`);
    return [{ tool, path }];
  });
}

const TOOL_FIELDS = new Set(['type', 'name', 'description', 'input_schema', 'cache_control']);

function declaration(tool: JsonObject, names: SafeNames): JsonObject {
  return toolSpec({ name: tool['name'], description: tool['description'], schema: tool['input_schema'] }, names);
}

/** A model that thinks may not be forced to call. */
function choice(
  asked: JsonObject | undefined,
  { names, notes, thinks }: Thinking & { readonly names: SafeNames },
): ToolChoice | undefined {
  if (asked === undefined) return undefined;
  if (bool(asked['disable_parallel_tool_use']) === true) notes.dropped('tool_choice.disable_parallel_tool_use');
  const { type } = asked;
  if (type === 'none') notes.dropped('tool_choice', 'none');
  if (type === 'none') return undefined;
  const forced = type === 'any' || type === 'tool';
  if (forced && thinks) notes.renamed(`tool_choice ${type}`, 'auto, since the model thinks');
  if (!forced || thinks) return auto;
  return type === 'any' ? any : chosen(text(asked['name']) ?? '', names);
}

function additional(body: JsonObject, { headers, betas }: RequestFacts, thinking: Thinking): JsonObject {
  const { notes } = thinking;
  const effort = text(object(body['output_config'])?.['effort']);
  return compact({
    thinking: object(body['thinking']),
    top_k: sampling(body, 'top_k', thinking),
    output_config: effort === undefined ? undefined : { effort },
    metadata: object(body['metadata']),
    anthropic_beta: betasFor(headers, betas, notes),
  });
}

function outputConfig(format: JsonObject | undefined, notes: Notes): JsonObject | undefined {
  if (format === undefined) return undefined;
  const schema: JsonValue | undefined = format['schema'];
  if (format['type'] === 'json_schema' && schema !== undefined) return textFormat(schema, format);
  notes.dropped('output_config.format', String(format['type']));
  return undefined;
}
