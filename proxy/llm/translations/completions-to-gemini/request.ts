import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { joinedText } from '../../formats/completions/text.ts';
import { compact, list, number, object, objects, text } from '../../json.ts';
import type { Notes } from '../contract.ts';
import { geminiSchema } from '../google/schema.ts';
import { thinkingBudget } from '../thinking.ts';
import { contents } from './contents.ts';
import { geminiTools, toolConfig } from './tools.ts';

/** Fields that have a place in the other format, or in its path. */
const CARRIED = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'n',
  'seed',
  'response_format',
  'reasoning_effort',
  'thinking_config',
  'thinkingConfig',
  'cached_content',
  'cachedContent',
  'safety_settings',
  'safetySettings',
  'labels',
]);

/** A chat completion as a request for content; the model stands in the path. */
export function generateRequest(body: JsonObject, model: string, notes: Notes): JsonObject {
  for (const field of Object.keys(body)) if (!CARRIED.has(field)) notes.dropped(field);
  const messages = objects(body['messages']);
  const cached = text(body['cachedContent']) ?? text(body['cached_content']);
  return compact({
    contents: contents(messages, notes),
    generationConfig: generationConfig(body, model, notes),
    cachedContent: cached,
    safetySettings: safetySettings(body['safetySettings'] ?? body['safety_settings'], notes),
    labels: object(body['labels']),
    ...(cached === undefined ? instructions(body, messages, notes) : withoutInstructions(body, messages, notes)),
  });
}

function instructions(body: JsonObject, messages: readonly JsonObject[], notes: Notes) {
  const system = systemText(messages);
  const tools = geminiTools(body['tools'], notes);
  const config = toolConfig(body['tool_choice'], notes);
  if (tools === undefined && config !== undefined) notes.dropped('tool_choice', 'no tools');
  return {
    systemInstruction: system === '' ? undefined : { parts: [{ text: system }] },
    tools,
    toolConfig: tools === undefined ? undefined : config,
  };
}

/** They are part of the cached content, and refused beside it. */
function withoutInstructions(body: JsonObject, messages: readonly JsonObject[], notes: Notes): JsonObject {
  if (systemText(messages) !== '') notes.dropped('messages (system)', 'cached content has its own');
  for (const field of ['tools', 'tool_choice'])
    if (body[field] !== undefined) notes.dropped(field, 'cached content has its own');
  return {};
}

function systemText(messages: readonly JsonObject[]): string {
  return messages
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => joinedText(content, '\n'))
    .filter((part) => part !== '')
    .join('\n');
}

function generationConfig(body: JsonObject, model: string, notes: Notes): JsonObject | undefined {
  const config = compact({
    temperature: number(body['temperature']),
    topP: number(body['top_p']),
    topK: number(body['top_k']),
    frequencyPenalty: number(body['frequency_penalty']),
    presencePenalty: number(body['presence_penalty']),
    maxOutputTokens: number(body['max_completion_tokens']) ?? number(body['max_tokens']),
    stopSequences: stopSequences(body['stop']),
    candidateCount: number(body['n']),
    seed: number(body['seed']),
    ...responseFormat(object(body['response_format']), notes),
    thinkingConfig: thinkingConfig(body, model),
  });
  return Object.keys(config).length === 0 ? undefined : config;
}

function stopSequences(stop: JsonValue | undefined): readonly JsonValue[] | undefined {
  return typeof stop === 'string' ? [stop] : list(stop);
}

function responseFormat(format: JsonObject | undefined, notes: Notes): Readonly<Record<string, JsonValue>> {
  if (format?.['type'] === 'json_object') return { responseMimeType: 'application/json' };
  if (format?.['type'] !== 'json_schema') return {};
  const declared = object(format['json_schema']);
  const path = 'response_format.json_schema';
  for (const field of Object.keys(declared ?? {})) if (field !== 'schema') notes.dropped(`${path}.${field}`);
  const schema = declared?.['schema'];
  return {
    responseMimeType: 'application/json',
    ...(schema === undefined ? {} : { responseSchema: geminiSchema(schema, `${path}.schema`, notes) }),
  };
}

const LEVELS: Readonly<Record<string, string>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
};

/** What a client says in Gemini's own words wins. */
function thinkingConfig(body: JsonObject, model: string): JsonObject | undefined {
  const own = object(body['thinkingConfig']) ?? object(body['thinking_config']);
  if (own !== undefined) return own;
  const effort = text(body['reasoning_effort']);
  const budget = thinkingBudget(effort);
  if (effort === undefined || budget === undefined) return undefined;
  const much = model.includes('gemini-3') ? { thinkingLevel: LEVELS[effort] ?? 'high' } : { thinkingBudget: budget };
  return { ...much, includeThoughts: true };
}

/** Malformed ones are left out: the service's own hold then, which are stricter. */
function safetySettings(value: JsonValue | undefined, notes: Notes): readonly JsonObject[] | undefined {
  if (value === undefined) return undefined;
  const settings = objects(value);
  const isWhole = ({ category, threshold }: JsonObject) =>
    typeof category === 'string' && typeof threshold === 'string';
  if (settings.length > 0 && settings.length === list(value)?.length && settings.every(isWhole)) return settings;
  notes.dropped('safety_settings', 'malformed');
  return undefined;
}
