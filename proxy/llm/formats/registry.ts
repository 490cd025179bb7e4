import type { UpstreamFormat } from '../formats.ts';
import type { RouteType } from '../route-type.ts';
import { completionsWire } from './completions/wire.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { embeddingsTold } from './embeddings/told.ts';
import { rerankTold } from './rerank/told.ts';
import { geminiCountTold, messagesCountTold } from './token-count/told.ts';
import type { Told, WireFormat } from './contract.ts';
import { converseWire } from './converse/wire.ts';
import { geminiWire } from './gemini/wire.ts';
import { messagesWire } from './messages/wire.ts';
import { responsesWire } from './responses/wire.ts';

/** Every format that services speak. One line per format. */
const formats: Readonly<Record<UpstreamFormat, WireFormat>> = {
  completions: completionsWire,
  messages: messagesWire,
  responses: responsesWire,
  generateContent: geminiWire,
  converse: converseWire,
};

export function wireFormat(format: UpstreamFormat): WireFormat {
  return formats[format];
}

/** The format in which a client of that kind of route expects errors. */
export function clientFormat(type: RouteType): WireFormat {
  switch (type) {
    case 'messages':
    case 'anthropicTokenCount':
      return messagesWire;
    case 'generateContent':
    case 'geminiCountTokens':
      return geminiWire;
    case 'responses':
      return responsesWire;
    default:
      return completionsWire;
  }
}

/** What answers that are no chats tell; undefined where nothing is read. One line per type. */
export function bodyTold(type: RouteType): ((body: JsonObject) => Told) | undefined {
  switch (type) {
    case 'embeddings':
      return embeddingsTold;
    case 'rerank':
      return rerankTold;
    case 'anthropicTokenCount':
      return messagesCountTold;
    case 'geminiCountTokens':
      return geminiCountTold;
    default:
      return undefined;
  }
}
