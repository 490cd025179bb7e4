/** Formats of chats that clients speak. */
export type ChatFormat = 'completions' | 'messages' | 'responses' | 'generateContent';

/** Formats that services speak. */
export type UpstreamFormat = ChatFormat | 'converse';

/** How traces spell formats and route types. */
export const shownNames = {
  completions: 'Completions',
  messages: 'Messages',
  responses: 'Responses',
  generateContent: 'Gemini',
  converse: 'Bedrock',
  embeddings: 'Embeddings',
  rerank: 'Rerank',
  anthropicTokenCount: 'CountTokens',
  geminiCountTokens: 'GeminiCountTokens',
  realtime: 'Realtime',
  detect: 'Detect',
  passthrough: 'Passthrough',
  models: 'Models',
} as const;
