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

/** What is no chat: `native` passes as it is, `own` becomes a body of the provider's own, `local` is answered by the gateway. */
export type BodyWay = 'native' | 'own' | 'local' | null;

export interface BodyWays {
  readonly embeddings: BodyWay;
  readonly rerank: BodyWay;
  readonly anthropicTokenCount: BodyWay;
  readonly geminiCountTokens: BodyWay;
}

const likeOpenai: BodyWays = {
  embeddings: 'native',
  rerank: 'native',
  anthropicTokenCount: 'local',
  geminiCountTokens: null,
};
const likeClaude: BodyWays = {
  embeddings: null,
  rerank: null,
  anthropicTokenCount: 'native',
  geminiCountTokens: null,
};
const vertex: BodyWays = { embeddings: 'own', rerank: 'own', anthropicTokenCount: 'local', geminiCountTokens: null };
const undeclared: BodyWays = {
  embeddings: null,
  rerank: null,
  anthropicTokenCount: 'local',
  geminiCountTokens: null,
};

/** The same for what is no chat. */
export const bodyTable: Readonly<Record<string, BodyWays>> = {
  openai: likeOpenai,
  azure: likeOpenai,
  'azure-deployment': likeOpenai,
  'azure-claude': { ...likeClaude, embeddings: 'native', rerank: 'native' },
  anthropic: likeClaude,
  gemini: { embeddings: 'native', rerank: null, anthropicTokenCount: 'local', geminiCountTokens: 'native' },
  'vertex-claude': { ...vertex, anthropicTokenCount: 'native' },
  'vertex-gemini': { ...vertex, geminiCountTokens: 'native' },
  'vertex-other': vertex,
  bedrock: { embeddings: 'own', rerank: 'own', anthropicTokenCount: 'own', geminiCountTokens: null },
  'custom-completions': undeclared,
  'custom-messages': undeclared,
  'custom-responses': undeclared,
  'custom-gemini': undeclared,
};

/** Models that are made for it, of the providers that have it: the calls that have to succeed. */
export const embeddingModels = [
  'openai-embedding',
  'azure-embedding',
  'azure-deployment-embedding',
  'gemini-embedding',
  'vertex-embedding',
  'bedrock-titan',
  'bedrock-cohere',
  'bedrock-nova',
  'custom-embedding',
  'cohere-embedding',
] as const;
export const rerankModels = ['cohere-rerank', 'vertex-rerank', 'bedrock-rerank', 'custom-rerank', 'openai'] as const;
