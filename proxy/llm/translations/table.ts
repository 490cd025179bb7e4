import type { ChatFormat, UpstreamFormat } from '../formats.ts';
import { completionsToConverse } from './completions-to-converse/index.ts';
import { completionsToGemini } from './completions-to-gemini/index.ts';
import { completionsToMessages } from './completions-to-messages/index.ts';
import type { Translation } from './contract.ts';
import { messagesToCompletions } from './messages-to-completions/index.ts';
import { messagesToConverse } from './messages-to-converse/index.ts';
import { messagesToResponses } from './messages-to-responses/index.ts';
import { responsesToCompletions } from './responses-to-completions/index.ts';
import { responsesToConverse } from './responses-to-converse/index.ts';

/** A way from a client's format to a service's; without a translation they are the same. */
export interface Way {
  readonly from: ChatFormat;
  readonly to: UpstreamFormat;
  readonly translation: Translation | null;
}

/** In order of preference: the first whose target the service speaks is taken. One line per pair. */
export const ways: readonly Way[] = [
  passing('responses'),
  passing('generateContent'),
  translating(completionsToGemini),
  passing('completions'),
  passing('messages'),
  translating(completionsToMessages),
  translating(completionsToConverse),
  translating(messagesToCompletions),
  translating(messagesToResponses),
  translating(messagesToConverse),
  translating(responsesToCompletions),
  translating(responsesToConverse),
];

/** Undefined: no format of the service can say what the client's says. */
export function wayFor(from: ChatFormat, spoken: readonly UpstreamFormat[]): Way | undefined {
  return ways.find((way) => way.from === from && spoken.includes(way.to));
}

function passing(format: ChatFormat): Way {
  return { from: format, to: format, translation: null };
}

function translating(translation: Translation): Way {
  return { from: translation.from, to: translation.to, translation };
}
