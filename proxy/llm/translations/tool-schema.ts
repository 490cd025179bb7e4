import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { object } from '../json.ts';

/** The schema of a tool's input: OpenAI takes none, and one without a type, where Anthropic and Bedrock want an object's. */
export function inputSchema(parameters: JsonValue | undefined): JsonObject {
  const schema = object(parameters);
  return schema?.['type'] === undefined ? { type: 'object', ...schema } : schema;
}
