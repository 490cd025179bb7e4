import type { JsonObject, JsonValue } from '../../../exchange/attributes.ts';
import { objects, text } from '../../json.ts';

/** The texts of a content that is a text, or parts of which some are; blank ones are left out. */
export function joinedText(content: JsonValue | undefined, separator: string): string {
  if (typeof content === 'string') return content.trim() === '' ? '' : content;
  return objects(content)
    .flatMap((part) => text(part['text']) ?? [])
    .filter((part) => part.trim() !== '')
    .join(separator);
}

/** Some services answer in parts. */
export function contentText(content: JsonValue | undefined): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return undefined;
  return objects(content)
    .map((part) => text(part['text']) ?? '')
    .join('');
}

/** What services that think aloud call it. */
export function thoughtIn(said: JsonObject): string {
  return text(said['reasoning_content']) ?? text(said['reasoning']) ?? '';
}
