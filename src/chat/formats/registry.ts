import type { ChatFormat, ChatReading } from './contract.ts';
import { completions } from './completions.ts';
import { converse } from './converse.ts';
import { generateContent } from './generate-content.ts';
import { messages } from './messages.ts';
import { responses } from './responses.ts';

/** The formats that people can ask in; the first is the usual one. */
export const CHAT_FORMATS = ['completions', 'messages', 'responses', 'generateContent'] as const;

export type ChatFormatName = (typeof CHAT_FORMATS)[number];

export const chatFormats: Readonly<Record<ChatFormatName, ChatFormat>> = {
  completions,
  messages,
  responses,
  generateContent,
};

/** What bodies are tried as, in this order. */
export const chatReadings: readonly ChatReading[] = [...Object.values(chatFormats), converse];
