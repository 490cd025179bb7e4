import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { badRequest } from '../../failure.ts';
import { bool, compact, number, object, objects, text } from '../../json.ts';
import { CacheMarks, marked } from '../cache-marks.ts';
import type { Notes } from '../contract.ts';
import { clientTools, openaiToolChoice, outputSchema, parallelToolCalls } from '../message-tools.ts';
import { noteUncarried } from '../uncarried.ts';
import { inputItems, systemItem } from './conversation.ts';

const MOST_TOKENS = 2 ** 32 - 1;

/** Fields that have a place in the other format, whatever it is called. */
const CARRIED = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'stream',
  'metadata',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
]);

/** A request for a message as one for a response. Throws for what would change its meaning if it were left out. */
export function responsesRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const tools = clientTools(body['tools'], notes);
  const schema = outputSchema(body, notes);
  const marks = new CacheMarks(model, notes);
  const system = systemOf(body['system'], marks);
  if (system.instructions !== undefined) notes.renamed('system', 'instructions');
  return compact({
    model,
    instructions: system.instructions,
    input: [...system.items, ...inputItems(objects(body['messages']), { marks, notes })],
    max_output_tokens: maxTokens(body, notes),
    temperature: number(body['temperature']),
    top_p: number(body['top_p']),
    stream: bool(body['stream']),
    metadata: metadata(object(body['metadata'])),
    ...(tools.length === 0 ? {} : toolFields(tools, object(body['tool_choice']))),
    reasoning: reasoning(body, notes),
    text: schema && { format: { type: 'json_schema', ...schema } },
  });
}

interface SystemPrompt {
  readonly instructions?: string | undefined;
  readonly items: readonly JsonObject[];
}

/** Marks for the prompt cache need parts to stand on. */
function systemOf(system: JsonValue | undefined, marks: CacheMarks): SystemPrompt {
  if (typeof system === 'string') return { instructions: system === '' ? undefined : system, items: [] };
  const blocks = objects(system).filter(({ type }) => type === 'text');
  if (blocks.some(marked)) return { items: [systemItem(blocks, marks)] };
  const joined = blocks.map((block) => text(block['text']) ?? '').join('\n');
  return { instructions: joined === '' ? undefined : joined, items: [] };
}

function maxTokens(body: JsonObject, notes: Notes): number | undefined {
  const most = number(body['max_tokens']);
  if (most === undefined) return undefined;
  if (most > MOST_TOKENS) throw badRequest('unsupported conversion: max_tokens is too large');
  notes.renamed('max_tokens', 'max_output_tokens');
  return most;
}

/** Tools are strict there unless they say otherwise, which changes their schemas. */
function toolFields(tools: ReturnType<typeof clientTools>, choice: JsonObject | undefined) {
  return {
    tools: tools.map(({ name, description, parameters }) =>
      compact({ type: 'function', name, description, parameters, strict: false }),
    ),
    tool_choice: openaiToolChoice(choice, (name) => ({ type: 'function', name })),
    parallel_tool_calls: parallelToolCalls(choice),
  };
}

function reasoning(body: JsonObject, notes: Notes): JsonObject | undefined {
  const thinking = text(object(body['thinking'])?.['type']);
  const effort = text(object(body['output_config'])?.['effort']);
  if (thinking === 'adaptive' || thinking === 'enabled') {
    notes.renamed('thinking', 'reasoning.effort');
    return { effort: effort ?? 'high' };
  }
  if (effort !== undefined) throw badRequest('unsupported conversion: output_config.effort without thinking');
  return undefined;
}

/** OpenAI takes texts alone, where Anthropic's user may be null. */
function metadata(told: JsonObject | undefined): JsonObject | undefined {
  return told && Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null));
}
