import type { JsonObject } from '../../exchange/attributes.ts';
import type { PromptMessageFacts } from '../../exchange/llm-facts.ts';
import { completionsConversation } from '../formats/completions/spoken.ts';
import { geminiConversation } from '../formats/gemini/spoken.ts';
import { messagesConversation } from '../formats/messages/spoken.ts';
import { inputSpoken, responsesConversation } from '../formats/responses/spoken.ts';
import type { Spoken } from '../formats/spoken.ts';
import type { RouteType } from '../route-type.ts';

/** The conversation that a client sent, for expressions: who said what, parts that are no text left out. */
export function promptOf(type: RouteType, body: JsonObject): readonly PromptMessageFacts[] {
  return spokenIn(type, body).map(({ role, texts }) => ({ role: role ?? '', content: texts.join('\n') }));
}

function spokenIn(type: RouteType, body: JsonObject): readonly Spoken[] {
  switch (type) {
    case 'messages':
    case 'anthropicTokenCount':
      return messagesConversation.request(body);
    case 'responses':
      return responsesConversation.request(body);
    case 'generateContent':
    case 'geminiCountTokens':
      return geminiConversation.request(body);
    case 'embeddings':
      return inputSpoken(body['input']);
    default:
      return completionsConversation.request(body);
  }
}
