import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { number, object, objects, text } from '../../json.ts';
import type { Notes, RequestFacts } from '../contract.ts';
import { alternating, cachedConverseBody, textFormat, type Turn } from '../converse/request.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { any, auto, chosen, toolSpec, type ToolChoice, unforced } from '../converse/tool-config.ts';
import { limitedTemperature } from '../temperature.ts';
import { budgetWithin, thinkingBudget, usualLimit } from '../thinking.ts';
import { noteUncarried } from '../uncarried.ts';
import { conversation } from './items.ts';

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
  'reasoning',
  'text',
  'vendor_extensions',
]);

/** A request for a response as a Converse request. */
export function converseRequest(body: JsonObject, facts: RequestFacts, names: SafeNames, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const tools = toolSpecs(objects(body['tools']), names, notes);
  const asked = choice(body['tool_choice'], names, notes);
  const { system, turns } = conversation(body, names, notes);
  const messages = alternating(turns);
  const budget = thinking(body, messages, notes);
  const toolChoice = budget === undefined ? asked : unforced(asked, notes);
  const maxTokens = number(body['max_output_tokens']);
  if (maxTokens === undefined) notes.added('inferenceConfig.maxTokens');
  return cachedConverseBody(
    {
      system,
      messages,
      tools,
      toolChoice,
      inference: {
        maxTokens: maxTokens ?? usualLimit(budget),
        // Models that think refuse both.
        temperature: budget === undefined ? limitedTemperature(body['temperature'], notes) : undefined,
        topP: budget === undefined ? number(body['top_p']) : undefined,
      },
      additional: budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } },
      outputConfig: outputConfig(object(body['text']), notes),
    },
    facts,
    notes,
  );
}

/** A budget of the client's own goes before what an effort stands for. */
function thinking(body: JsonObject, messages: readonly Turn[], notes: Notes): number | undefined {
  const reasoning = object(body['reasoning']) ?? {};
  noteUncarried(reasoning, new Set(['effort']), notes, 'reasoning.');
  const own = number(object(body['vendor_extensions'])?.['thinking_budget_tokens']);
  const wanted = own ?? thinkingBudget(text(reasoning['effort']));
  if (wanted === undefined) return undefined;
  if (lacksThoughts(messages)) {
    notes.dropped('reasoning.effort', 'the thoughts before the last calls are missing');
    return undefined;
  }
  // A client that has said how much to think is to hear what is wrong with it.
  const budget = own ?? budgetWithin(wanted, number(body['max_output_tokens']));
  if (budget === undefined) {
    notes.dropped('reasoning.effort', 'max_output_tokens leaves no room to think');
    return undefined;
  }
  for (const field of ['temperature', 'top_p'])
    if (typeof body[field] === 'number') notes.dropped(field, 'the model thinks');
  return budget;
}

/** Whether results of calls are sent back without the thoughts before the calls: Claude refuses to think on then. */
function lacksThoughts(messages: readonly Turn[]): boolean {
  const [called, answered] = messages.slice(-2);
  if (answered?.content.some(({ toolResult }) => toolResult !== undefined) !== true) return false;
  return called?.content[0]?.['reasoningContent'] === undefined;
}

function toolSpecs(declared: readonly JsonObject[], names: SafeNames, notes: Notes): readonly JsonObject[] {
  return declared.flatMap((tool, index) => {
    if (tool['type'] !== 'function') {
      notes.dropped(`tools[${index}]`, String(tool['type']));
      return [];
    }
    if (tool['strict'] !== undefined && tool['strict'] !== null) notes.dropped(`tools[${index}].strict`);
    return [toolSpec({ name: tool['name'], description: tool['description'], schema: tool['parameters'] }, names)];
  });
}

/** Converse has no way to forbid calls. */
function choice(value: JsonValue | undefined, names: SafeNames, notes: Notes): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'none') notes.dropped('tool_choice', 'none');
  if (typeof value === 'string') return value === 'none' ? undefined : value === 'required' ? any : auto;
  const asked = object(value);
  const name = text(asked?.['name']);
  if (asked?.['type'] === 'function' && name !== undefined) return chosen(name, names);
  notes.dropped('tool_choice', String(asked?.['type']));
  return asked?.['mode'] === 'required' ? any : auto;
}

function outputConfig(asked: JsonObject | undefined, notes: Notes): JsonObject | undefined {
  if (asked === undefined) return undefined;
  noteUncarried(asked, new Set(['format']), notes, 'text.');
  const format = object(asked['format']);
  if (format === undefined || format['type'] === 'text') return undefined;
  const { schema } = format;
  if (format['type'] !== 'json_schema' || schema === undefined) {
    notes.dropped('text.format', String(format['type']));
    return undefined;
  }
  if (format['strict'] !== undefined) notes.dropped('text.format.strict');
  return textFormat(schema, format);
}
