import type { ChatFormat } from '../../formats.ts';
import { completionsText } from './completions.ts';
import type { TextFormat } from './contract.ts';
import { geminiText } from './gemini.ts';
import { messagesText } from './messages.ts';
import { responsesText } from './responses.ts';

/** Where texts stand, by the format that the client speaks. One line per format. */
export const textFormats: Readonly<Record<ChatFormat, TextFormat>> = {
  completions: completionsText,
  messages: messagesText,
  responses: responsesText,
  generateContent: geminiText,
};
