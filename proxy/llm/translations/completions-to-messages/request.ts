import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { bool, compact, list, number, object, objects, text } from '../../json.ts';
import { joinedText } from '../../formats/completions/text.ts';
import type { Notes } from '../contract.ts';
import { SafeNames } from '../converse/safe-names.ts';
import { limitedTemperature } from '../temperature.ts';
import { budgetWithin, lacksThoughts, thinkingBudget, usualLimit } from '../thinking.ts';
import { inputSchema } from '../tool-schema.ts';
import { noteUncarried } from '../uncarried.ts';
import { noteOthers, turn } from './messages.ts';

/** Fields that have a place in the other format, whatever it is called. */
const CARRIED = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'stop',
  'stream',
  'stream_options',
  'user',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning_effort',
  'response_format',
]);

/** A request for a chat completion as one for a message. */
export function messagesRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  noteUncarried(body['n'] === 1 ? { ...body, n: null } : body, CARRIED, notes);
  const messages = objects(body['messages']);
  const limit = toldLimit(body, notes);
  const system = systemText(messages, notes);
  const format = outputFormat(object(body['response_format']), notes);
  const thoughts = thinking(text(body['reasoning_effort']), { limit, messages }, notes);
  const context = { notes, thoughts: thoughts !== undefined, ids: new SafeNames('call') };
  const { user } = body;
  if (typeof user === 'string') notes.renamed('user', 'metadata.user_id');
  return compact({
    model,
    system: system === '' ? undefined : system,
    messages: messages.flatMap((message, index) => turn(message, `messages[${index}]`, context)),
    max_tokens: limit ?? usualLimit(thoughts?.budget_tokens),
    ...sampling(body, thoughts !== undefined, notes),
    stop_sequences: stopSequences(body['stop'], notes),
    stream: bool(body['stream']),
    metadata: typeof user === 'string' ? { user_id: user } : undefined,
    tools: list(body['tools']) && tools(objects(body['tools']), notes),
    tool_choice: unforced(toolChoice(body, notes), thoughts !== undefined, notes),
    thinking: thoughts,
    output_config: format && { format },
  });
}

/** Anthropic wants one in any case. */
function toldLimit(body: JsonObject, notes: Notes): number | undefined {
  const completion = number(body['max_completion_tokens']);
  if (completion !== undefined) notes.renamed('max_completion_tokens', 'max_tokens');
  const told = completion ?? number(body['max_tokens']);
  if (told === undefined) notes.added('max_tokens');
  return told;
}

function systemText(messages: readonly JsonObject[], notes: Notes): string {
  let system = '';
  messages.forEach(({ role, content }, index) => {
    if (role !== 'system' && role !== 'developer') return;
    if (typeof content !== 'string') noteOthers(content, `messages[${index}].content`, notes);
    const part = joinedText(content, '\n');
    if (part !== '') system = system === '' ? part : `${system}\n${part}`;
  });
  return system;
}

// ── settings ──

/** Anthropic refuses blank ones. */
function stopSequences(stop: JsonValue | undefined, notes: Notes): readonly JsonValue[] | undefined {
  const wanted = typeof stop === 'string' ? [stop] : (list(stop) ?? []);
  const kept = wanted.filter((each) => typeof each === 'string' && each.trim() !== '');
  if (kept.length < wanted.length) notes.dropped('stop', 'what is blank');
  if (kept.length === 0) return undefined;
  notes.renamed('stop', 'stop_sequences');
  return kept;
}

function tools(declared: readonly JsonObject[], notes: Notes): readonly JsonObject[] {
  return declared.flatMap((tool, index) => {
    const fn = object(tool['function']);
    if (tool['type'] !== 'function' || fn === undefined) {
      notes.dropped(`tools[${index}]`, String(tool['type']));
      return [];
    }
    if (fn['strict'] !== undefined && fn['strict'] !== null) notes.dropped(`tools[${index}].function.strict`);
    return [
      compact({
        name: fn['name'],
        description: fn['description'] ?? undefined,
        input_schema: inputSchema(fn['parameters']),
      }),
    ];
  });
}

function toolChoice(body: JsonObject, notes: Notes): JsonObject | undefined {
  const parallel = bool(body['parallel_tool_calls']);
  const disable = parallel === undefined ? {} : { disable_parallel_tool_use: !parallel };
  const choice = body['tool_choice'];
  if (parallel !== undefined) notes.renamed('parallel_tool_calls', 'tool_choice.disable_parallel_tool_use');
  if (choice === undefined || choice === null) {
    return parallel === undefined || objects(body['tools']).length === 0 ? undefined : { type: 'auto', ...disable };
  }
  if (choice === 'none') return { type: 'none' };
  if (choice === 'required') return { type: 'any', ...disable };
  const name = text(object(object(choice)?.['function'])?.['name']);
  if (name !== undefined) return { type: 'tool', name, ...disable };
  if (choice !== 'auto') notes.dropped('tool_choice', 'a choice that the service does not know');
  return { type: 'auto', ...disable };
}

/** Only as much as leaves room for an answer, and none when that is too little to be allowed. */
function thinking(
  effort: string | undefined,
  { limit, messages }: { readonly limit: number | undefined; readonly messages: readonly JsonObject[] },
  notes: Notes,
): { readonly type: 'enabled'; readonly budget_tokens: number } | undefined {
  const wanted = thinkingBudget(effort);
  if (wanted === undefined) return undefined;
  if (lacksThoughts(messages)) {
    notes.dropped('reasoning_effort', 'the thoughts before the last calls are missing');
    return undefined;
  }
  const budget = budgetWithin(wanted, limit);
  if (budget === undefined) {
    notes.dropped('reasoning_effort', 'max_tokens leaves no room to think');
    return undefined;
  }
  notes.renamed('reasoning_effort', 'thinking');
  return { type: 'enabled', budget_tokens: budget };
}

/** What Claude refuses while it thinks. */
function sampling(body: JsonObject, thinks: boolean, notes: Notes): JsonObject {
  const [temperature, topP] = [limitedTemperature(body['temperature'], notes), number(body['top_p'])];
  const cold = thinks && temperature !== undefined && temperature !== 1;
  const narrow = thinks && topP !== undefined && topP < 0.95;
  if (cold) notes.dropped('temperature', 'the model thinks');
  if (narrow) notes.dropped('top_p', 'the model thinks');
  return compact({ temperature: cold ? undefined : temperature, top_p: narrow ? undefined : topP });
}

/** A model that thinks cannot be made to call. */
function unforced(choice: JsonObject | undefined, thinks: boolean, notes: Notes): JsonObject | undefined {
  if (!thinks || (choice?.['type'] !== 'any' && choice?.['type'] !== 'tool')) return choice;
  notes.renamed('tool_choice', 'auto, since the model thinks');
  const { name: _name, ...rest } = choice;
  return { ...rest, type: 'auto' };
}

function outputFormat(format: JsonObject | undefined, notes: Notes): JsonObject | undefined {
  const type = format?.['type'];
  if (type !== 'json_object' && type !== 'json_schema') return undefined;
  notes.renamed('response_format', 'output_config.format');
  const declared = type === 'json_schema' ? object(format?.['json_schema'])?.['schema'] : undefined;
  return { type: 'json_schema', schema: declared ?? { type: 'object', additionalProperties: true } };
}
