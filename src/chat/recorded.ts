import { createParser } from 'eventsource-parser';
import type { ChatMessage } from './answer.ts';
import { ChatReader, parseObject } from './reader.ts';

/** The message in a recorded body of an answer, whole or a stream; undefined when there is none. */
export function messageIn(text: string): ChatMessage | undefined {
  const reader = new ChatReader();
  const body = parseObject(text);
  if (body === undefined) readEvents(text, reader);
  else reader.whole(body);
  return reader.isEmpty ? undefined : reader.message;
}

/** Whether a text is a stream of server-sent events. */
export function isEventStream(text: string): boolean {
  return /^(?:\uFEFF|\s|:[^\n]*\n)*(?:event|data|id|retry) ?:/.test(text);
}

function readEvents(text: string, reader: ChatReader): void {
  if (!isEventStream(text)) return;
  const parser = createParser({ onEvent: ({ data }) => reader.event(data) });
  parser.feed(text);
  // The last event of a body that was cut may have no blank line behind it.
  parser.feed('\n\n');
}
