import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { list, object, text } from '../json.ts';
import type { RouteType } from '../route-type.ts';

/** The messages of a request, each with its texts; instructions of any kind are the first. Images and files have none. */
export function messageTexts(body: JsonObject, type: RouteType): readonly (readonly string[])[] {
  switch (type) {
    case 'messages':
    case 'anthropicTokenCount':
      return [...instructions(body['system']), ...messages(body['messages'])];
    case 'responses':
      return [...instructions(body['instructions']), ...messages(body['input'])];
    case 'generateContent':
    case 'geminiCountTokens': {
      const asked = object(body['generateContentRequest']) ?? body;
      const system = asked['systemInstruction'] ?? asked['system_instruction'];
      return [...instructions(system), ...messages(asked['contents'])];
    }
    case 'completions':
      return messages(body['messages']);
    default:
      return messages(body['input']);
  }
}

function instructions(value: JsonValue | undefined): readonly (readonly string[])[] {
  const texts = textsOf(value);
  return texts.length === 0 ? [] : [texts];
}

function messages(value: JsonValue | undefined): readonly (readonly string[])[] {
  if (typeof value === 'string') return [[value]];
  return (list(value) ?? []).map(textsOf);
}

/** Fields that hold what a model reads. */
const READ = ['text', 'content', 'parts', 'output', 'refusal', 'thinking', 'name'] as const;
/** Arguments of calls, as texts or as JSON. */
const GIVEN = ['arguments', 'input', 'args', 'response'] as const;
/** What calls are wrapped in. */
const WRAPPED = ['tool_calls', 'function', 'custom', 'functionCall', 'functionResponse'] as const;

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  const fields = object(value);
  if (fields === undefined) return [];
  return [
    ...READ.flatMap((name) => textsOf(fields[name])),
    ...GIVEN.flatMap((name) => given(fields[name])),
    ...WRAPPED.flatMap((name) => textsOf(fields[name])),
  ];
}

function given(value: JsonValue | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  return [text(value) ?? JSON.stringify(value)];
}
