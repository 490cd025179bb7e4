import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { inputSchema } from '../tool-schema.ts';
import type { SafeNames } from './safe-names.ts';

/** Stands in where a history has calls, and the request no tools: Bedrock refuses that. */
const DUMMY: JsonObject = {
  toolSpec: {
    name: 'gw_dummy_do_not_call',
    description: 'Stands in for tools that were used before. Do not call it.',
    inputSchema: { json: { type: 'object' } },
  },
};

export interface ToolDeclaration {
  readonly name: JsonValue | undefined;
  readonly description: JsonValue | undefined;
  readonly schema: JsonValue | undefined;
}

export function toolSpec({ name, description, schema }: ToolDeclaration, names: SafeNames): JsonObject {
  const told = text(description);
  return {
    toolSpec: compact({
      name: names.of(text(name) ?? ''),
      description: told === '' ? undefined : told,
      inputSchema: { json: inputSchema(schema) },
    }),
  };
}

export type ToolChoice = { readonly auto: JsonObject } | { readonly any: JsonObject } | { readonly tool: JsonObject };

export const auto: ToolChoice = { auto: {} };
export const any: ToolChoice = { any: {} };

export function chosen(name: string, names: SafeNames): ToolChoice {
  return { tool: { name: names.of(name) } };
}

/** Claude that thinks refuses to be made to call. */
export function unforced(choice: ToolChoice | undefined, notes: Notes): ToolChoice | undefined {
  if (choice === undefined || 'auto' in choice) return choice;
  notes.renamed('tool_choice', 'auto, since the model thinks');
  return auto;
}

/** Undefined for a request without tools, whose history has none either. */
export function toolConfig(
  tools: readonly JsonObject[],
  choice: ToolChoice | undefined,
  messages: readonly { readonly content: readonly JsonObject[] }[],
): JsonObject | undefined {
  if (tools.length > 0) return compact({ tools, toolChoice: choice });
  const used = messages.some(({ content }) =>
    content.some((block) => block['toolUse'] !== undefined || block['toolResult'] !== undefined),
  );
  return used ? { tools: [DUMMY] } : undefined;
}
