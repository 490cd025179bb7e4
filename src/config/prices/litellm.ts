import type { ModelPrices, PriceTier, RateName, Rates } from '../ir/model-catalog.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts';
import type { Imported, Importer } from './import.ts';
import { rateText } from './decimal.ts';

/** Identities by the names of LiteLLM. */
const IDENTITIES: Readonly<Record<string, string>> = {
  openai: 'openai',
  'text-completion-openai': 'openai',
  anthropic: 'anthropic',
  bedrock: 'aws.bedrock',
  bedrock_converse: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex_ai: 'gcp.vertex_ai',
  azure: 'azure',
  azure_ai: 'azure',
  github_copilot: 'copilot',
  cohere: 'cohere',
  cohere_chat: 'cohere',
  baseten: 'baseten',
  cerebras: 'cerebras',
  deepinfra: 'deepinfra',
  deepseek: 'deepseek',
  groq: 'groq',
  huggingface: 'huggingface',
  mistral: 'mistral',
  openrouter: 'openrouter',
  together_ai: 'togetherai',
  xai: 'xai',
  fireworks_ai: 'fireworks',
};

const RATES: readonly (readonly [name: RateName, key: string])[] = [
  ['input', 'input_cost_per_token'],
  ['output', 'output_cost_per_token'],
  ['cacheRead', 'cache_read_input_token_cost'],
  ['cacheWrite', 'cache_creation_input_token_cost'],
  ['reasoning', 'output_cost_per_reasoning_token'],
  ['inputAudio', 'input_cost_per_audio_token'],
  ['outputAudio', 'output_cost_per_audio_token'],
];

const MILLION = 6;
/** Explains the fields. */
const SAMPLE = 'sample_spec';

/** `model_prices_and_context_window.json` of LiteLLM: dollars for one token, by model. */
export const litellm: Importer = {
  name: 'LiteLLM',
  fits: (document) =>
    Object.values(document).some((facts) => isJsonObject(facts) && typeof facts['litellm_provider'] === 'string'),
  read: (document, now) =>
    Object.entries(document).flatMap(([key, facts]): Imported[] => {
      if (key === SAMPLE || !isJsonObject(facts) || isGone(facts['deprecation_date'], now)) return [];
      const provider = String(facts['litellm_provider'] ?? '');
      const model = modelOf(key, provider);
      const prices = pricesOf(facts);
      return prices === null || model === null ? [] : [{ identity: identityOf(provider), provider, model, prices }];
    }),
};

/** Services of Vertex AI are listed by the makers of their models. */
function identityOf(provider: string): string | undefined {
  if (provider.startsWith('vertex_ai-')) return IDENTITIES['vertex_ai'];
  return Object.hasOwn(IDENTITIES, provider) ? IDENTITIES[provider] : undefined;
}

/** Without the provider in front; null for prices of single regions. */
function modelOf(key: string, provider: string): string | null {
  const [first = '', ...rest] = key.split('/');
  const own = first === provider || first === 'bedrock' || (first === 'vertex_ai' && provider.startsWith('vertex_ai'));
  const model = rest.length > 0 && own ? rest.join('/') : key;
  return provider.startsWith('bedrock') && model.includes('/') ? null : model;
}

function isGone(date: JsonValue | undefined, now: Date): boolean {
  return typeof date === 'string' && Date.parse(date) < now.getTime();
}

function pricesOf(facts: JsonObject): ModelPrices | null {
  const rates = ratesOf(facts, '');
  if (Object.keys(rates).length === 0) return null;
  const sizes = new Set(
    Object.keys(facts)
      .flatMap((key) => /_above_(\d{1,6})k_tokens$/.exec(key)?.[1] ?? [])
      .map(Number),
  );
  const tiers = [...sizes]
    .toSorted((a, b) => a - b)
    .map((size): PriceTier => ({ contextOver: size * 1000, rates: ratesOf(facts, `_above_${size}k_tokens`) }))
    .filter((tier) => Object.keys(tier.rates).length > 0);
  return { rates, tiers, tags: [] };
}

function ratesOf(facts: JsonObject, suffix: string): Rates {
  const known = RATES.flatMap(([name, key]) => {
    const rate = rateText(facts[`${key}${suffix}`], MILLION);
    return rate === undefined ? [] : [[name, rate] as const];
  });
  return Object.fromEntries(known);
}
