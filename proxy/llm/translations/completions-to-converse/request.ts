import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { joinedText } from '../../formats/completions/text.ts';
import { list, number, object, objects, text } from '../../json.ts';
import type { Notes, RequestFacts } from '../contract.ts';
import { alternating, cachedConverseBody, textFormat } from '../converse/request.ts';
import type { SafeNames } from '../converse/safe-names.ts';
import { any, auto, chosen, toolSpec, type ToolChoice, unforced } from '../converse/tool-config.ts';
import { limitedTemperature } from '../temperature.ts';
import { budgetWithin, lacksThoughts, thinkingBudget, usualLimit } from '../thinking.ts';
import { noteUncarried } from '../uncarried.ts';
import { turns } from './messages.ts';

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
  'tools',
  'tool_choice',
  'reasoning_effort',
  'response_format',
]);

/** A chat completion as a Converse request. */
export function converseRequest(body: JsonObject, facts: RequestFacts, tools: SafeNames, notes: Notes): JsonObject {
  noteUncarried(body, CARRIED, notes);
  const messages = objects(body['messages']);
  const system = systemText(messages);
  const limit = number(body['max_completion_tokens']) ?? number(body['max_tokens']);
  const budget = thinking(body, { messages, limit }, notes);
  if (budget !== undefined) noteSampling(body, notes);
  // Without thoughts, the service's own limit holds.
  if (limit === undefined && budget !== undefined) notes.added('inferenceConfig.maxTokens');
  const declared = toolSpecs(objects(body['tools']), tools, notes);
  const asked = choice(body['tool_choice'], tools, notes);
  const toolChoice = budget === undefined ? asked : unforced(asked, notes);
  return cachedConverseBody(
    {
      system: system === '' ? [] : [{ text: system }],
      tools: declared,
      toolChoice,
      messages: alternating(turns(messages, tools, notes)),
      inference: {
        maxTokens: limit ?? (budget === undefined ? undefined : usualLimit(budget)),
        // Models that think refuse both.
        temperature: budget === undefined ? limitedTemperature(body['temperature'], notes) : undefined,
        topP: budget === undefined ? number(body['top_p']) : undefined,
        stopSequences: stopSequences(body['stop']),
      },
      additional: budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } },
      outputConfig: outputConfig(object(body['response_format']), notes),
    },
    facts,
    notes,
  );
}

interface Chat {
  readonly messages: readonly JsonObject[];
  readonly limit: number | undefined;
}

function thinking(body: JsonObject, { messages, limit }: Chat, notes: Notes): number | undefined {
  const wanted = thinkingBudget(text(body['reasoning_effort']));
  if (wanted === undefined) return undefined;
  const lacking = lacksThoughts(messages);
  const budget = lacking ? undefined : budgetWithin(wanted, limit);
  if (lacking) notes.dropped('reasoning_effort', 'the thoughts before the last calls are missing');
  else if (budget === undefined) notes.dropped('reasoning_effort', 'max_tokens leaves no room to think');
  return budget;
}

function noteSampling(body: JsonObject, notes: Notes): void {
  for (const field of ['temperature', 'top_p'])
    if (typeof body[field] === 'number') notes.dropped(field, 'the model thinks');
}

function systemText(messages: readonly JsonObject[]): string {
  return messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => joinedText(content, '\n'))
    .filter((part) => part !== '')
    .join('\n');
}

function toolSpecs(declared: readonly JsonObject[], names: SafeNames, notes: Notes): readonly JsonObject[] {
  return declared.flatMap((tool, index) => {
    const fn = object(tool['function']);
    if (tool['type'] !== 'function' || fn === undefined) {
      notes.dropped(`tools[${index}]`, String(tool['type']));
      return [];
    }
    if (fn['strict'] !== undefined && fn['strict'] !== null) notes.dropped(`tools[${index}].function.strict`);
    return [toolSpec({ name: fn['name'], description: fn['description'], schema: fn['parameters'] }, names)];
  });
}

/** Converse has no way to forbid calls. */
function choice(value: JsonValue | undefined, names: SafeNames, notes: Notes): ToolChoice | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === 'none') notes.dropped('tool_choice', 'none');
  if (typeof value === 'string') return value === 'none' ? undefined : value === 'required' ? any : auto;
  const named = object(value);
  const name = text((object(named?.['function']) ?? object(named?.['custom']))?.['name']);
  if (name !== undefined) return chosen(name, names);
  const allowed = object(named?.['allowed_tools']);
  notes.dropped('tool_choice', String(named?.['type']));
  return allowed?.['mode'] === 'required' ? any : auto;
}

function stopSequences(stop: JsonValue | undefined): readonly JsonValue[] | undefined {
  return typeof stop === 'string' ? [stop] : list(stop);
}

function outputConfig(format: JsonObject | undefined, notes: Notes): JsonObject | undefined {
  if (format === undefined || format['type'] === 'text') return undefined;
  const declared = object(format['json_schema']);
  const schema = declared?.['schema'];
  if (format['type'] !== 'json_schema' || declared === undefined || schema === undefined) {
    notes.dropped('response_format', String(format['type']));
    return undefined;
  }
  if (declared['strict'] !== undefined) notes.dropped('response_format.json_schema.strict');
  return textFormat(schema, declared);
}
