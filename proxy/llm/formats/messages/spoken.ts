import type { JsonObject } from '../../../exchange/attributes.ts';
import { objects, text } from '../../json.ts';
import { type Conversation, textsIn } from '../spoken.ts';

export const messagesConversation: Conversation = {
  request(body) {
    const { system } = body;
    const messages = objects(body['messages']).map(({ role, content }) => ({
      role: text(role),
      texts: textsIn(content, messagesTextField),
    }));
    return system === undefined
      ? messages
      : [{ role: 'system', texts: textsIn(system, messagesTextField) }, ...messages];
  },
  answer: (body) => [{ role: text(body['role']), texts: textsIn(body['content'], messagesTextField) }],
};

export function messagesTextField(block: JsonObject): string | null {
  return block['type'] === 'text' ? 'text' : null;
}
