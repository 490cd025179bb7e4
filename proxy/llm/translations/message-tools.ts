import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { bool, object, objects, text } from '../json.ts';
import type { Notes } from './contract.ts';

/** One tool that an Anthropic client declares and runs by itself. */
export interface ClientTool {
  readonly name: JsonValue | undefined;
  readonly description: JsonValue | undefined;
  readonly parameters: JsonValue;
}

/** Tools that Anthropic runs are nobody else's to run: left out. */
export function clientTools(declared: JsonValue | undefined, notes: Notes): readonly ClientTool[] {
  return objects(declared).flatMap((tool, index) => {
    const { type } = tool;
    if (type !== undefined && type !== null && type !== 'custom') {
      notes.dropped(`tools[${index}]`, String(type));
      return [];
    }
    for (const field of ['strict', 'cache_control', 'input_examples', 'defer_loading']) {
      if (tool[field] !== undefined && tool[field] !== null) notes.dropped(`tools[${index}].${field}`);
    }
    const parameters = tool['input_schema'] ?? { type: 'object', properties: {} };
    return [{ name: tool['name'], description: tool['description'] ?? undefined, parameters }];
  });
}

/** What OpenAI calls the choice; a named tool is said as the format says it. */
export function openaiToolChoice(
  choice: JsonObject | undefined,
  named: (name: string) => JsonValue,
): JsonValue | undefined {
  switch (choice?.['type']) {
    case 'auto':
      return 'auto';
    case 'any':
      return 'required';
    case 'none':
      return 'none';
    case 'tool':
      return named(text(choice['name']) ?? '');
    default:
      return undefined;
  }
}

export function parallelToolCalls(choice: JsonObject | undefined): boolean | undefined {
  const disabled = bool(choice?.['disable_parallel_tool_use']);
  return disabled === undefined ? undefined : !disabled;
}

/** The schema that an answer has to follow. */
export function outputSchema(body: JsonObject, notes: Notes): JsonObject | undefined {
  const format = object(object(body['output_config'])?.['format']);
  if (format === undefined) return undefined;
  if (format['type'] === 'json_schema') return { name: 'structured_output', schema: format['schema'] ?? {} };
  notes.dropped('output_config.format', String(format['type']));
  return undefined;
}
