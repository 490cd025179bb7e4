import type { ModelCatalog, ModelPrices, Rates } from '../../../src/config/ir/model-catalog.ts';
import type { CatalogStatus, LlmFacts } from '../../exchange/llm-facts.ts';
import { billedTokens, contextTokens, costOf } from './price.ts';

/** What a look at the prices of a model came to. */
export interface Priced {
  readonly status: CatalogStatus;
  /** The name that was found. */
  readonly model: string | null;
  readonly contextTokens: number;
}

/** Prices of models; one for each engine. */
export class PriceList {
  readonly #catalog: ModelCatalog | null;

  constructor(catalog: ModelCatalog | undefined) {
    this.#catalog = catalog ?? null;
  }

  /** Puts the cost of a call, and its rates, beside what is known of it. */
  price(facts: LlmFacts): Priced {
    const context = contextTokens(facts);
    const found = this.#find(facts);
    if (found === null) {
      const status = this.#catalog === null ? 'noCatalog' : 'missing';
      return { status, model: null, contextTokens: context };
    }
    const rates = ratesFor(found.prices, context);
    if (Object.values(rates).every((rate) => rate === undefined))
      return { status: 'unpriced', model: found.model, contextTokens: context };
    facts.costRates = rates;
    facts.cost = costOf(billedTokens(facts, rates), rates);
    return { status: 'exact', model: found.model, contextTokens: context };
  }

  /** By the model that answered, else by the one that was asked for. */
  #find({ provider, responseModel, requestModel }: LlmFacts): { model: string; prices: ModelPrices } | null {
    const models = own(this.#catalog?.providers, provider);
    for (const model of [responseModel, requestModel]) {
      const prices = model === null ? undefined : own(models, model);
      if (model !== null && prices !== undefined) return { model, prices };
    }
    return null;
  }
}

/** The highest tier that the context reaches changes the rates that it names. */
function ratesFor({ rates, tiers }: ModelPrices, context: number): Rates {
  const tier = tiers.findLast(({ contextOver }) => context > contextOver);
  return tier === undefined ? rates : { ...rates, ...tier.rates };
}

/** Names come from clients and services: `constructor` is no provider. */
function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record !== undefined && Object.hasOwn(record, key) ? record[key] : undefined;
}
