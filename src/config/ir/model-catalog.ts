/** What models cost: dollars for a million tokens, as decimal texts. */
export type RateName = 'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'reasoning' | 'inputAudio' | 'outputAudio';

export const rateNames: readonly RateName[] = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'reasoning',
  'inputAudio',
  'outputAudio',
];

export type Rates = Readonly<Partial<Record<RateName, string | undefined>>>;

/** Rates above a size of the context, in tokens; a rate that it leaves out stays what it is below. */
export interface PriceTier {
  readonly contextOver: number;
  readonly rates: Rates;
}

export interface ModelPrices {
  readonly rates: Rates;
  /** By rising size. */
  readonly tiers: readonly PriceTier[];
  /** What a model can do, for providers that ask (`openai_responses`, …). */
  readonly tags: readonly string[];
}

/** Prices by identity of the provider and name of the model. */
export interface ModelCatalog {
  readonly providers: Readonly<Record<string, Readonly<Record<string, ModelPrices>>>>;
}
