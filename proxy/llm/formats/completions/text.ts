import type { JsonValue } from '../../../exchange/attributes.ts';
import { objects, text } from '../../json.ts';

/** The texts of a content that is a text, or parts of which some are; blank ones are left out. */
export function joinedText(content: JsonValue | undefined, separator: string): string {
  if (typeof content === 'string') return content.trim() === '' ? '' : content;
  return objects(content)
    .flatMap((part) => text(part['text']) ?? [])
    .filter((part) => part.trim() !== '')
    .join(separator);
}
