import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, objects, text } from '../../json.ts';
import { type Conversation, type Spoken, textsIn } from '../spoken.ts';

export const completionsConversation: Conversation = {
  request: (body) => objects(body['messages']).map(spoken),
  answer: (body) => objects(body['choices']).map((choice) => spoken(object(choice['message']) ?? {})),
};

function spoken({ role, content }: JsonObject): Spoken {
  return { role: text(role), texts: textsIn(content, completionsTextField) };
}

export function completionsTextField(part: JsonObject): string | null {
  if (typeof part['text'] === 'string') return 'text';
  return typeof part['refusal'] === 'string' ? 'refusal' : null;
}
