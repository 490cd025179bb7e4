import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { compact, parseObject } from '../../json.ts';
import type { Notes, RequestFacts } from '../contract.ts';
import { withCachePoints } from './cache-points.ts';
import { toolConfig, type ToolChoice } from './tool-config.ts';

/** One turn of a conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: readonly JsonObject[];
}

/** What a pair makes of its own format. */
export interface ConverseParts {
  readonly system: readonly JsonObject[];
  readonly messages: readonly Turn[];
  readonly tools: readonly JsonObject[];
  readonly toolChoice: ToolChoice | undefined;
  readonly inference: InferenceConfig;
  /** What only the model understands. */
  readonly additional: JsonObject;
  readonly outputConfig: JsonObject | undefined;
}

export interface InferenceConfig {
  readonly maxTokens?: JsonValue | undefined;
  readonly temperature?: JsonValue | undefined;
  readonly topP?: JsonValue | undefined;
  readonly stopSequences?: readonly JsonValue[] | undefined;
}

/** The body for `converse` and `converse-stream`; the model stands in the path. */
export function converseBody(parts: ConverseParts, { headers, guardrail }: RequestFacts, notes: Notes): JsonObject {
  const { system, messages, tools, toolChoice, inference, additional, outputConfig } = parts;
  const config = toolConfig(tools, toolChoice, messages);
  if (tools.length === 0 && config !== undefined) notes.added('toolConfig');
  return compact({
    system: system.length === 0 ? undefined : system,
    messages: messages.map(({ role, content }) => ({ role, content })),
    inferenceConfig: filled(compact({ ...inference })),
    toolConfig: config,
    guardrailConfig: guardrail === null ? undefined : guardrailConfig(guardrail),
    additionalModelRequestFields: filled(additional),
    requestMetadata: requestMetadata(headers.get('x-bedrock-metadata'), notes),
    outputConfig,
  });
}

/** With the cache points of the configured policy. */
export function cachedConverseBody(parts: ConverseParts, facts: RequestFacts, notes: Notes): JsonObject {
  const { promptCaching, model } = facts;
  return converseBody(
    promptCaching === null ? parts : withCachePoints(parts, model, promptCaching, notes),
    facts,
    notes,
  );
}

/** Neighbours of the same role become one: Bedrock wants them to alternate. Turns without anything in them are none. */
export function alternating(turns: readonly Turn[]): readonly Turn[] {
  const merged: { role: Turn['role']; content: JsonObject[] }[] = [];
  for (const { role, content } of turns) {
    if (content.length === 0) continue;
    const last = merged.at(-1);
    if (last?.role === role) last.content.push(...content);
    else merged.push({ role, content: [...content] });
  }
  return merged;
}

/** An answer that has to be of a schema. */
export function textFormat(schema: JsonValue, { name, description }: JsonObject): JsonObject {
  return {
    textFormat: {
      type: 'json_schema',
      structure: { jsonSchema: compact({ schema: JSON.stringify(schema), name, description }) },
    },
  };
}

function guardrailConfig({ identifier, version }: { readonly identifier: string; readonly version: string }) {
  return { guardrailIdentifier: identifier, guardrailVersion: version, trace: 'enabled' };
}

/** Values that are no texts are written as such; lists and objects have no place. */
function requestMetadata(header: string | undefined, notes: Notes): JsonObject | undefined {
  if (header === undefined) return undefined;
  const entries = Object.entries(parseObject(header) ?? {}).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  if (entries.length > 0) return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]));
  notes.dropped('x-bedrock-metadata', 'no JSON object of plain values');
  return undefined;
}

function filled(fields: JsonObject): JsonObject | undefined {
  return Object.keys(fields).length === 0 ? undefined : fields;
}
