import { isJsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import type { Components } from './components.ts';

const JSON_TYPE = 'application/json';
/** More would say no more. */
const MAX_TYPES = 8;

/** What the service is asked for: JSON, or, where the operation never answers with that, what it does answer with. */
export function acceptOf(responses: JsonValue | undefined, place: string, components: Components): string {
  const types = new Set<string>();
  for (const [status, response] of Object.entries(isJsonObject(responses) ? responses : {})) {
    const content = status.startsWith('2') ? contentOf(response, place, components) : undefined;
    for (const type of Object.keys(isJsonObject(content) ? content : {})) types.add(type);
  }
  const known = [...types].filter((type) => /^[\w*.+-]+\/[\w*.+-]+$/.test(type)).slice(0, MAX_TYPES);
  const hasJson = [...types].some((type) => type.split(';', 1)[0]?.trim().toLowerCase() === JSON_TYPE);
  return hasJson || known.length === 0 ? JSON_TYPE : `${JSON_TYPE}, ${known.join(', ')}`;
}

/** A call can do without knowing: what cannot be read says nothing. */
function contentOf(response: JsonValue, place: string, components: Components): JsonValue | undefined {
  try {
    return components.resolve(response, place).content;
  } catch {
    return undefined;
  }
}
