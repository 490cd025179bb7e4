import { isJsonObject, type JsonObject, type JsonValue } from '../../../exchange/attributes.ts';
import { list, objects, text } from '../../json.ts';
import { type Conversation, type Spoken, textsIn } from '../spoken.ts';

export const responsesConversation: Conversation = {
  request({ instructions, input }) {
    const items = inputSpoken(input);
    return typeof instructions === 'string' ? [{ role: 'system', texts: [instructions] }, ...items] : items;
  },
  answer: (body) => objects(body['output']).filter(isMessage).map(spoken),
};

/** A text, several of them (of embeddings), or messages among other items. */
export function inputSpoken(input: JsonValue | undefined): readonly Spoken[] {
  if (typeof input === 'string') return [{ role: 'user', texts: [input] }];
  return (list(input) ?? []).flatMap((item) => {
    if (typeof item === 'string') return [{ role: 'user', texts: [item] }];
    return isJsonObject(item) && isMessage(item) ? [spoken(item)] : [];
  });
}

export function isMessage(item: JsonObject): boolean {
  return item['type'] === 'message' || (item['type'] === undefined && typeof item['role'] === 'string');
}

function spoken({ role, content }: JsonObject): Spoken {
  return { role: text(role), texts: textsIn(content, responsesTextField) };
}

export function responsesTextField({ type }: JsonObject): string | null {
  if (type === 'refusal') return 'refusal';
  return type === 'input_text' || type === 'output_text' || type === 'text' ? 'text' : null;
}
