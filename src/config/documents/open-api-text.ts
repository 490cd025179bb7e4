import type { JsonObject } from '../../shared/json.ts';
import { readYaml } from '../load/yaml.ts';
import { openApiOf } from './open-api.ts';

/** Largest document, characters. */
const MAX_CHARACTERS = 16 * 1024 * 1024;

/** Reads an OpenAPI document of version 3, JSON or YAML; a text says what is wrong with it. */
export function readOpenApi(text: string): { readonly document: JsonObject } | string {
  if (text.length > MAX_CHARACTERS) return 'it is larger than 16 MiB';
  const value = parse(text);
  return typeof value === 'string' ? value : openApiOf(value.parsed);
}

/** JSON is YAML too, but read faster by itself. */
function parse(text: string): { readonly parsed: unknown } | string {
  try {
    const parsed: unknown = JSON.parse(text);
    return { parsed };
  } catch {
    const { root, problems } = readYaml(text);
    const [first] = problems;
    return first === undefined ? { parsed: root.value } : `it is neither JSON nor YAML: ${first.message}`;
  }
}
