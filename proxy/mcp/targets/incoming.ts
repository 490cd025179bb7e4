import { parseExactly } from '../message/exact-json.ts';
import type { RpcMessage } from '../message/message.ts';
import { messageOf } from '../message/parse.ts';

/** The messages in what a target sent: one, or several in an array (2025-03-26, "batching"); null where any of it is none. */
export function messagesIn(text: string): readonly RpcMessage[] | null {
  try {
    const value = parseExactly(text);
    const messages: RpcMessage[] = [];
    for (const each of Array.isArray(value) ? value : [value]) {
      const parsed = messageOf(each);
      if (parsed.kind === 'invalid') return null;
      messages.push(parsed.message);
    }
    return messages;
  } catch {
    return null;
  }
}
