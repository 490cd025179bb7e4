import type { JsonObject } from '../../../exchange/attributes.ts';
import { object, objects, text } from '../../json.ts';
import { type Conversation, type Spoken, textsIn } from '../spoken.ts';

export const geminiConversation: Conversation = {
  request(body) {
    const system = body['systemInstruction'] ?? body['system_instruction'];
    const contents = objects(body['contents']).map(spoken);
    if (system === undefined) return contents;
    const texts = typeof system === 'string' ? [system] : spoken(object(system)).texts;
    return [{ role: 'system', texts }, ...contents];
  },
  answer: (body) => objects(body['candidates']).map((candidate) => spoken(object(candidate['content']))),
};

function spoken(content: JsonObject | undefined): Spoken {
  return { role: text(content?.['role']), texts: textsIn(content?.['parts'], geminiTextField) };
}

/** Thoughts are nobody's business. */
export function geminiTextField(part: JsonObject): string | null {
  return part['thought'] === true ? null : 'text';
}
