import type { ChatFormat, UpstreamFormat } from '../../../proxy/llm/formats.ts';

/** The format in which a provider is spoken to for a client of another; null: the client is refused. */
export type Ways = Readonly<Record<ChatFormat, UpstreamFormat | null>>;

const openai: Ways = {
  completions: 'completions',
  messages: 'completions',
  responses: 'responses',
  generateContent: null,
};
const claude: Ways = { completions: 'messages', messages: 'messages', responses: null, generateContent: null };
const gemini: Ways = {
  completions: 'generateContent',
  messages: 'completions',
  responses: 'completions',
  generateContent: 'generateContent',
};
const alike: Ways = { ...openai, responses: 'completions' };

/** What a user of each client is promised, by hand; the code has to agree, and every cell is tried. */
export const table: Readonly<Record<string, Ways>> = {
  openai,
  azure: openai,
  'azure-deployment': openai,
  'azure-claude': claude,
  anthropic: claude,
  gemini,
  'vertex-claude': claude,
  'vertex-gemini': gemini,
  'vertex-other': alike,
  bedrock: { completions: 'converse', messages: 'converse', responses: 'converse', generateContent: null },
  'custom-completions': alike,
  'custom-messages': claude,
  'custom-responses': { completions: null, messages: 'responses', responses: 'responses', generateContent: null },
  'custom-gemini': {
    completions: 'generateContent',
    messages: null,
    responses: null,
    generateContent: 'generateContent',
  },
};

/** Undefined for a provider that the table has forgotten. */
export function wayOf(column: string, format: ChatFormat): UpstreamFormat | null {
  const ways = table[column];
  if (ways === undefined) throw new Error(`the table says nothing of ${column}`);
  return ways[format];
}
