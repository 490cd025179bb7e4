import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { LlmFacts } from '../../../../proxy/exchange/llm-facts.ts';
import type { LlmUsage } from '../../../../proxy/exchange/llm-usage.ts';
import { PriceList } from '../../../../proxy/llm/cost/price-list.ts';
import type { ModelPrices, Rates } from '../../../../src/config/ir/model-catalog.ts';
import { decimalText, dollars } from '../../../../src/shared/dollars.ts';

function priced(rates: Rates, usage: LlmUsage, more: Partial<ModelPrices> & { excludesCache?: boolean } = {}) {
  const { excludesCache = false, ...prices } = more;
  const facts = factsOf('m', 'm', usage);
  facts.excludesCache = excludesCache;
  const list = new PriceList({ providers: { p: { m: { rates, tiers: [], tags: [], ...prices } } } });
  const { status } = list.price(facts);
  return {
    status,
    cost: facts.cost && Object.fromEntries(Object.entries(facts.cost).map(([k, v]) => [k, decimalText(v)])),
  };
}

function factsOf(requested: string, answered: string | null, usage: LlmUsage = { inputTokens: 1_000_000 }): LlmFacts {
  const facts = new LlmFacts();
  facts.provider = 'p';
  facts.requestModel = requested;
  facts.responseModel = answered;
  facts.usage = usage;
  return facts;
}

const all: Rates = {
  input: '2',
  output: '8',
  cacheRead: '0.5',
  cacheWrite: '2.5',
  reasoning: '9',
  inputAudio: '40',
  outputAudio: '80',
};
const used: LlmUsage = {
  inputTokens: 1000,
  cachedInputTokens: 100,
  cacheCreationInputTokens: 50,
  inputAudioTokens: 10,
  outputTokens: 500,
  reasoningTokens: 200,
  outputAudioTokens: 20,
};

describe('the cost of a call', () => {
  test('bills every token once', () => {
    expect(priced(all, used).cost).toEqual({
      input: '0.00168', // 840 × 2
      cacheRead: '0.00005',
      cacheWrite: '0.000125',
      inputAudio: '0.0004',
      output: '0.00224', // 280 × 8
      reasoning: '0.0018',
      outputAudio: '0.0016',
      total: '0.007895',
    });
  });

  test('bills what has no rate of its own as what it is part of', () => {
    const { cost } = priced({ input: '2', output: '8' }, used);
    expect(cost).toMatchObject({ input: '0.00198', inputAudio: '0.00002', cacheRead: '0', output: '0.00224' });
    expect(cost).toMatchObject({ reasoning: '0.0016', outputAudio: '0.00016', total: '0.006' });
  });

  test('is the same whether the service counts its cache in or not', () => {
    const apart = { ...used, inputTokens: 850 };
    expect(priced(all, apart, { excludesCache: true })).toEqual(priced(all, used));
  });

  test('follows the highest tier that the context exceeds, rate by rate', () => {
    const tiers = [
      { contextOver: 100, rates: { input: '10' } },
      { contextOver: 1000, rates: { input: '20', output: '30' } },
    ];
    const at = (inputTokens: number) =>
      priced({ input: '1', output: '2' }, { inputTokens, outputTokens: 1 }, { tiers }).cost;
    expect(at(100)).toMatchObject({ input: '0.0001', output: '0.000002' });
    expect(at(101)).toMatchObject({ input: '0.00101', output: '0.000002' });
    expect(at(1001)).toMatchObject({ input: '0.02002', output: '0.00003' });
  });

  test('is that of the model that answered, else of the one that was asked for', () => {
    const prices = (input: string): ModelPrices => ({ rates: { input }, tiers: [], tags: [] });
    const list = new PriceList({ providers: { p: { asked: prices('1'), answered: prices('2') } } });
    const total = (facts: LlmFacts) => [list.price(facts).status, facts.cost && dollars(facts.cost.total)];
    expect(total(factsOf('asked', 'answered'))).toEqual(['exact', 2]);
    expect(total(factsOf('asked', 'other'))).toEqual(['exact', 1]);
    expect(total(factsOf('asked', null))).toEqual(['exact', 1]);
    expect(total(factsOf('constructor', '__proto__'))).toEqual(['missing', null]);
  });

  test('is not known without a catalogue, a model in it, or rates of it', () => {
    expect(new PriceList(undefined).price(factsOf('m', null)).status).toBe('noCatalog');
    expect(priced({}, used)).toEqual({ status: 'unpriced', cost: null });
  });

  test('adds up to the last digit', () => {
    fc.assert(
      fc.property(fc.nat(1e9), fc.nat(1e9), (inputTokens, outputTokens) => {
        const { cost } = priced({ input: '0.000001', output: '999999999.999999' }, { inputTokens, outputTokens });
        const exact = BigInt(inputTokens) + BigInt(outputTokens) * 999_999_999_999_999n;
        expect(cost?.['total']).toBe(decimalText(exact));
      }),
    );
  });
});

test.each([
  [0n, '0'],
  [1n, '0.000000000001'],
  [1_500_000_000_000n, '1.5'],
  [-0n, '0'],
  [10n ** 24n, '1000000000000'],
])('%p trillionths of a dollar are %s', (amount, text) => {
  expect(decimalText(amount)).toBe(text);
});
