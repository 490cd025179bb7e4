import type { ModelPrices, RateName, Rates } from '../ir/model-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts';
import type { Imported, Importer } from './import.ts';
import { rateText } from './decimal.ts';

/** Identities by the names of models.dev. */
const IDENTITIES: Readonly<Record<string, string>> = {
  openai: 'openai',
  anthropic: 'anthropic',
  'amazon-bedrock': 'aws.bedrock',
  google: 'gcp.gemini',
  'google-vertex': 'gcp.vertex_ai',
  'google-vertex-anthropic': 'gcp.vertex_ai',
  azure: 'azure',
  'github-copilot': 'copilot',
  cohere: 'cohere',
  baseten: 'baseten',
  cerebras: 'cerebras',
  deepinfra: 'deepinfra',
  deepseek: 'deepseek',
  groq: 'groq',
  huggingface: 'huggingface',
  mistral: 'mistral',
  openrouter: 'openrouter',
  togetherai: 'togetherai',
  xai: 'xai',
  'fireworks-ai': 'fireworks',
};

const RATES: readonly (readonly [name: RateName, key: string])[] = [
  ['input', 'input'],
  ['output', 'output'],
  ['cacheRead', 'cache_read'],
  ['cacheWrite', 'cache_write'],
  ['reasoning', 'reasoning'],
  ['inputAudio', 'input_audio'],
  ['outputAudio', 'output_audio'],
];

/** `api.json` of models.dev: dollars for a million tokens, by provider and model. */
export const modelsDev: Importer = {
  name: 'models.dev',
  fits: (document) =>
    Object.values(document).some((provider) => isJsonObject(provider) && isJsonObject(provider['models'])),
  read: (document) =>
    Object.entries(document).flatMap(([provider, value]): Imported[] => {
      const models = isJsonObject(value) && isJsonObject(value['models']) ? value['models'] : {};
      const identity = Object.hasOwn(IDENTITIES, provider) ? IDENTITIES[provider] : undefined;
      return Object.entries(models).flatMap(([model, facts]): Imported[] => {
        if (!isJsonObject(facts) || facts['status'] === 'deprecated') return [];
        const prices = pricesOf(facts['cost']);
        return prices === null ? [] : [{ identity, provider, model, prices }];
      });
    }),
};

function pricesOf(cost: JsonValue | undefined): ModelPrices | null {
  if (!isJsonObject(cost)) return null;
  const rates = ratesOf(cost);
  if (Object.keys(rates).length === 0) return null;
  const tiers = Object.entries(cost).flatMap(([key, value]) => {
    const above = /^context_over_(\d{1,6})k$/.exec(key)?.[1];
    if (above === undefined || !isJsonObject(value)) return [];
    return [{ contextOver: Number(above) * 1000, rates: ratesOf(value) }];
  });
  return { rates, tiers: tiers.toSorted((a, b) => a.contextOver - b.contextOver), tags: [] };
}

function ratesOf(cost: JsonObject): Rates {
  const known = RATES.flatMap(([name, key]) => {
    const rate = rateText(cost[key]);
    return rate === undefined ? [] : [[name, rate] as const];
  });
  return Object.fromEntries(known);
}
