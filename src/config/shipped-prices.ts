import type { ModelCatalog, ModelPrices, RateName } from './ir/model-catalog.ts';

/**
 * Public list prices of well-known models, in dollars for a million tokens, as their providers published them at
 * `shippedPricesDate`. Prices change: edit this table, or lay a catalogue of your own over it (`config.modelCatalog`).
 */
export const shippedPricesDate = '2025-11';

type Row = readonly [
  model: string,
  input: string,
  output: string,
  more?: Partial<Record<RateName, string>>,
  tier?: Tier,
];
type Tier = readonly [contextOver: number, rates: Partial<Record<RateName, string>>];

const cached = (cacheRead: string) => ({ cacheRead });
/** Anthropic: reads cost a tenth of input, writes for five minutes a quarter more than input. */
const cache = (cacheRead: string, cacheWrite: string) => ({ cacheRead, cacheWrite });

const gpt: readonly Row[] = [
  ['gpt-5', '1.25', '10', cached('0.125')],
  ['gpt-5-mini', '0.25', '2', cached('0.025')],
  ['gpt-5-nano', '0.05', '0.40', cached('0.005')],
  ['gpt-4.1', '2', '8', cached('0.50')],
  ['gpt-4.1-mini', '0.40', '1.60', cached('0.10')],
  ['gpt-4.1-nano', '0.10', '0.40', cached('0.025')],
  ['gpt-4o', '2.50', '10', cached('1.25')],
  ['gpt-4o-2024-08-06', '2.50', '10', cached('1.25')],
  ['gpt-4o-2024-11-20', '2.50', '10', cached('1.25')],
  ['gpt-4o-mini', '0.15', '0.60', cached('0.075')],
  ['gpt-4o-mini-2024-07-18', '0.15', '0.60', cached('0.075')],
  ['gpt-4-turbo', '10', '30'],
  ['gpt-3.5-turbo', '0.50', '1.50'],
  ['o1', '15', '60', cached('7.50')],
  ['o3', '2', '8', cached('0.50')],
  ['o3-mini', '1.10', '4.40', cached('0.55')],
  ['o4-mini', '1.10', '4.40', cached('0.275')],
  ['text-embedding-3-small', '0.02', '0'],
  ['text-embedding-3-large', '0.13', '0'],
  ['text-embedding-ada-002', '0.10', '0'],
];

const opus4 = ['15', '75', cache('1.50', '18.75')] as const;
const sonnet = ['3', '15', cache('0.30', '3.75')] as const;
const longSonnet: Tier = [200_000, { input: '6', output: '22.50', cacheRead: '0.60', cacheWrite: '7.50' }];
const haiku45 = ['1', '5', cache('0.10', '1.25')] as const;
const haiku35 = ['0.80', '4', cache('0.08', '1')] as const;
const haiku3 = ['0.25', '1.25', cache('0.03', '0.30')] as const;

const claude: readonly Row[] = [
  ['claude-opus-4-5', '5', '25', cache('0.50', '6.25')],
  ['claude-opus-4-1', ...opus4],
  ['claude-opus-4-1-20250805', ...opus4],
  ['claude-opus-4-0', ...opus4],
  ['claude-opus-4-20250514', ...opus4],
  ['claude-sonnet-4-5', ...sonnet, longSonnet],
  ['claude-sonnet-4-5-20250929', ...sonnet, longSonnet],
  ['claude-sonnet-4-0', ...sonnet, longSonnet],
  ['claude-sonnet-4-20250514', ...sonnet, longSonnet],
  ['claude-3-7-sonnet-20250219', ...sonnet],
  ['claude-3-5-sonnet-20241022', ...sonnet],
  ['claude-haiku-4-5', ...haiku45],
  ['claude-haiku-4-5-20251001', ...haiku45],
  ['claude-3-5-haiku-20241022', ...haiku35],
  ['claude-3-haiku-20240307', ...haiku3],
];

const gemini: readonly Row[] = [
  ['gemini-2.5-pro', '1.25', '10', cached('0.125'), [200_000, { input: '2.50', output: '15', cacheRead: '0.25' }]],
  ['gemini-2.5-flash', '0.30', '2.50', { cacheRead: '0.03', inputAudio: '1' }],
  ['gemini-2.5-flash-lite', '0.10', '0.40', { cacheRead: '0.01', inputAudio: '0.30' }],
  ['gemini-2.0-flash', '0.10', '0.40', { cacheRead: '0.025', inputAudio: '0.70' }],
  ['gemini-2.0-flash-lite', '0.075', '0.30'],
  ['gemini-embedding-001', '0.15', '0'],
];

const tables: Readonly<Record<string, readonly Row[]>> = {
  openai: [
    ...gpt,
    ['gpt-4o-audio-preview', '2.50', '10', { inputAudio: '40', outputAudio: '80' }],
    ['gpt-realtime', '4', '16', { cacheRead: '0.40', inputAudio: '32', outputAudio: '64' }],
  ],
  azure: gpt,
  anthropic: claude,
  'gcp.gemini': gemini,
  'gcp.vertex_ai': [...gemini, ...claude, ...claude.map(withVersion)],
  'aws.bedrock': [
    ['anthropic.claude-opus-4-1-20250805-v1:0', ...opus4],
    ['anthropic.claude-opus-4-20250514-v1:0', ...opus4],
    ['anthropic.claude-sonnet-4-5-20250929-v1:0', ...sonnet],
    ['anthropic.claude-sonnet-4-20250514-v1:0', ...sonnet],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', ...sonnet],
    ['anthropic.claude-3-5-sonnet-20241022-v2:0', ...sonnet],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', ...haiku45],
    ['anthropic.claude-3-5-haiku-20241022-v1:0', ...haiku35],
    ['anthropic.claude-3-haiku-20240307-v1:0', ...haiku3],
    ['amazon.nova-pro-v1:0', '0.80', '3.20', cached('0.20')],
    ['amazon.nova-lite-v1:0', '0.06', '0.24', cached('0.015')],
    ['amazon.nova-micro-v1:0', '0.035', '0.14', cached('0.00875')],
    ['meta.llama3-3-70b-instruct-v1:0', '0.72', '0.72'],
  ],
  mistral: [
    ['mistral-large-latest', '2', '6'],
    ['mistral-medium-latest', '0.40', '2'],
    ['mistral-small-latest', '0.10', '0.30'],
    ['codestral-latest', '0.30', '0.90'],
  ],
  deepseek: [
    ['deepseek-chat', '0.28', '0.42', cached('0.028')],
    ['deepseek-reasoner', '0.28', '0.42', cached('0.028')],
  ],
  groq: [
    ['llama-3.3-70b-versatile', '0.59', '0.79'],
    ['llama-3.1-8b-instant', '0.05', '0.08'],
  ],
  cohere: [
    ['command-a-03-2025', '2.50', '10'],
    ['command-r-plus-08-2024', '2.50', '10'],
    ['command-r-08-2024', '0.15', '0.60'],
  ],
  xai: [
    ['grok-4', '3', '15', cached('0.75')],
    ['grok-3', '3', '15', cached('0.75')],
    ['grok-3-mini', '0.30', '0.50', cached('0.075')],
  ],
};

/** The catalogue that comes with the product. */
export function shippedPrices(): ModelCatalog {
  const providers = Object.entries(tables).map(([identity, rows]) => {
    return [identity, Object.fromEntries(rows.map((row) => [row[0], pricesOf(row)]))];
  });
  return { providers: Object.fromEntries(providers) };
}

function pricesOf([, input, output, more, tier]: Row): ModelPrices {
  return {
    rates: { input, output, ...more },
    tiers: tier === undefined ? [] : [{ contextOver: tier[0], rates: tier[1] }],
    tags: [],
  };
}

/** Vertex AI has the date of a Claude model behind an `@`. */
function withVersion([model, ...rest]: Row): Row {
  return [model.replace(/-(\d{8})$/, '@$1'), ...rest];
}
