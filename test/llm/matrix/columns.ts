import type { Vendor } from '../providers/server.ts';

/** A provider as the `llm:` section names it. Clients ask for the model that has its name. */
export interface Column {
  readonly name: string;
  /** Whose API is behind it. */
  readonly vendor: Vendor;
  readonly provider: string;
  /** As the provider knows it. */
  readonly model: string;
  /** Keys of `params` beside model and address. */
  readonly params?: string;
  /** Of paths, where it is no root. */
  readonly base?: string;
  readonly passthrough?: 'detect';
}

/** Every kind of provider, and those of their models that are spoken to in different ways. One line each. */
export const columns: readonly Column[] = [
  {
    name: 'openai',
    vendor: 'openai',
    provider: 'openAI',
    model: 'gpt-5-mini',
    params: 'apiKey: own-openai',
    base: '/v1',
  },
  {
    name: 'azure',
    vendor: 'azure',
    provider: 'azure',
    model: 'gpt-5',
    params: 'azureResourceName: r, azureResourceType: openAI, apiKey: own-azure',
  },
  {
    name: 'azure-deployment',
    vendor: 'azure',
    provider: 'azure',
    model: 'gpt-4o',
    params: 'azureResourceName: r, azureResourceType: openAI, azureApiVersion: "2024-10-21", apiKey: own-azure',
  },
  {
    name: 'azure-claude',
    vendor: 'azure',
    provider: 'azure',
    model: 'claude-sonnet-4-5',
    params: 'azureResourceName: r, azureResourceType: foundry, apiKey: own-azure',
  },
  {
    name: 'anthropic',
    vendor: 'anthropic',
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    params: 'apiKey: own-anthropic',
    base: '/v1',
  },
  { name: 'gemini', vendor: 'gemini', provider: 'gemini', model: 'gemini-2.5-pro', params: 'apiKey: AIza-own-gemini' },
  {
    name: 'vertex-claude',
    vendor: 'vertex',
    provider: 'vertex',
    model: 'claude-sonnet-4-5-20250929',
    params: 'vertexProject: p',
  },
  { name: 'vertex-gemini', vendor: 'vertex', provider: 'vertex', model: 'gemini-2.5-pro', params: 'vertexProject: p' },
  {
    name: 'vertex-other',
    vendor: 'vertex',
    provider: 'vertex',
    model: 'meta/llama-4-scout',
    params: 'vertexProject: p',
  },
  {
    name: 'bedrock',
    vendor: 'bedrock',
    provider: 'bedrock',
    model: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    params: 'awsRegion: us-east-1',
    passthrough: 'detect',
  },
  {
    name: 'custom-completions',
    vendor: 'openai',
    provider: custom('completions'),
    model: 'deepseek-chat',
    params: 'apiKey: own-custom',
    base: '/v1',
  },
  {
    name: 'custom-messages',
    vendor: 'anthropic',
    provider: custom('messages'),
    model: 'claude-sonnet-4-5',
    params: 'apiKey: own-custom',
    base: '/v1',
  },
  {
    name: 'custom-responses',
    vendor: 'openai',
    provider: custom('responses'),
    model: 'gpt-5-mini',
    params: 'apiKey: own-custom',
    base: '/v1',
  },
  {
    name: 'custom-gemini',
    vendor: 'gemini',
    provider: custom('generateContent'),
    model: 'gemini-2.5-pro',
    params: 'apiKey: own-custom',
  },
];

/** Models of theirs that are no chats. */
export const bodyColumns: readonly Column[] = [
  { ...column('openai'), name: 'openai-embedding', model: 'text-embedding-3-small' },
  { ...column('azure'), name: 'azure-embedding', model: 'text-embedding-3-small' },
  { ...column('azure-deployment'), name: 'azure-deployment-embedding', model: 'text-embedding-3-small' },
  { ...column('gemini'), name: 'gemini-embedding', model: 'gemini-embedding-001' },
  { ...column('vertex-gemini'), name: 'vertex-embedding', model: 'text-embedding-005' },
  { ...column('bedrock'), name: 'bedrock-titan', model: 'amazon.titan-embed-text-v2:0' },
  { ...column('bedrock'), name: 'bedrock-cohere', model: 'cohere.embed-english-v3' },
  { ...column('bedrock'), name: 'bedrock-nova', model: 'amazon.nova-2-multimodal-embeddings-v1:0' },
  {
    ...column('custom-completions'),
    name: 'custom-embedding',
    provider: custom('embeddings'),
    model: 'nomic-embed-text',
  },
  { name: 'cohere-embedding', vendor: 'cohere', provider: 'cohere', model: 'embed-v4.0', params: 'apiKey: own-cohere' },
  { name: 'cohere-rerank', vendor: 'cohere', provider: 'cohere', model: 'rerank-v3.5', params: 'apiKey: own-cohere' },
  { ...column('vertex-other'), name: 'vertex-rerank', model: 'semantic-ranker-default@latest' },
  { ...column('bedrock'), name: 'bedrock-rerank', model: 'cohere.rerank-v3-5:0' },
  { ...column('custom-completions'), name: 'custom-rerank', provider: custom('rerank'), model: 'rerank-1' },
];

export function column(name: string): Column {
  const found = columns.find((each) => each.name === name);
  if (found === undefined) throw new Error(`no column ${name}`);
  return found;
}

function custom(format: string): string {
  return `{custom: {formats: [{type: ${format}}]}}`;
}
