import type { TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import { a2aExcerpt } from './a2a.ts';
import { chatExcerpt } from './chat.ts';
import { mcpExcerpt } from './mcp.ts';
import type { RequestFacts } from './request.ts';

/** What a body means, for the line of its event; empty where nobody knows. */
export function excerptOf({ chat, a2a }: RequestFacts, message: TraceMessage): string {
  return chatExcerpt(chat, message) || a2aExcerpt(a2a, message) || mcpExcerpt(message);
}
