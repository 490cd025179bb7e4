import type { JsonObject, JsonValue } from '../../exchange/attributes.ts';
import { objects, text } from '../json.ts';

/** What one side says: its texts in their order, without what is no text. */
export interface Spoken {
  /** As the body has it. */
  readonly role: string | undefined;
  readonly texts: readonly string[];
}

/** Who says what in the bodies of one format. Expressions see it, and guards look at it. */
export interface Conversation {
  /** The system prompt, as the role `system`, then the messages. */
  request(body: JsonObject): readonly Spoken[];
  /** One for each alternative or message of a whole answer. */
  answer(body: JsonObject): readonly Spoken[];
}

/** Name of the field that has the text of a part; null for what is no text. */
export type TextField = (part: JsonObject) => string | null;

/** The texts of a content, whether it is one or a list of parts. */
export function textsIn(content: JsonValue | undefined, field: TextField): readonly string[] {
  if (typeof content === 'string') return [content];
  return objects(content).flatMap((part) => {
    const name = field(part);
    return name === null ? [] : (text(part[name]) ?? []);
  });
}
