import type { CustomFormat } from '../../ir/llm.ts';
import type { PRESETS } from '../../schema/llm.ts';

export interface Preset {
  readonly baseUrl: string;
  readonly formats: readonly CustomFormat[];
}

export type PresetName = (typeof PRESETS)[number];

/** Services that speak formats of others: where they are, what they take, and paths that are not the usual ones. */
export const presets: Readonly<Record<PresetName, Preset>> = {
  cohere: {
    baseUrl: 'https://api.cohere.ai',
    formats: [
      { type: 'completions', path: '/compatibility/v1/chat/completions' },
      { type: 'embeddings', path: '/compatibility/v1/embeddings' },
      { type: 'rerank', path: '/v2/rerank' },
    ],
  },
  ollama: {
    baseUrl: 'http://localhost:11434/v1',
    formats: [{ type: 'completions' }, { type: 'responses' }, { type: 'embeddings' }],
  },
  baseten: { baseUrl: 'https://inference.baseten.co/v1', formats: [{ type: 'completions' }, { type: 'messages' }] },
  cerebras: { baseUrl: 'https://api.cerebras.ai/v1', formats: [{ type: 'completions' }] },
  deepinfra: {
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    formats: [{ type: 'completions' }, { type: 'messages', path: '/anthropic/v1/messages' }, { type: 'embeddings' }],
  },
  deepseek: {
    baseUrl: 'https://api.deepseek.com/v1',
    formats: [{ type: 'completions' }, { type: 'messages', path: '/anthropic/v1/messages' }, { type: 'responses' }],
  },
  groq: { baseUrl: 'https://api.groq.com/openai/v1', formats: [{ type: 'completions' }, { type: 'responses' }] },
  huggingface: {
    baseUrl: 'https://router.huggingface.co/v1',
    formats: [{ type: 'completions' }, { type: 'responses' }],
  },
  mistral: { baseUrl: 'https://api.mistral.ai/v1', formats: [{ type: 'completions' }, { type: 'embeddings' }] },
  openrouter: {
    baseUrl: 'https://openrouter.ai/api/v1',
    formats: [
      { type: 'completions' },
      { type: 'messages' },
      { type: 'responses' },
      { type: 'embeddings' },
      { type: 'rerank' },
    ],
  },
  togetherai: {
    baseUrl: 'https://api.together.xyz/v1',
    formats: [{ type: 'completions' }, { type: 'embeddings' }, { type: 'rerank' }],
  },
  xai: {
    baseUrl: 'https://api.x.ai/v1',
    formats: [{ type: 'completions' }, { type: 'responses' }, { type: 'realtime' }],
  },
  fireworks: {
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    formats: [
      { type: 'completions' },
      { type: 'messages' },
      { type: 'responses' },
      { type: 'embeddings' },
      { type: 'rerank' },
    ],
  },
};

export function isPreset(name: string): name is PresetName {
  return Object.hasOwn(presets, name);
}
