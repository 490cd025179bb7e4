import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { catalogFromText } from '../../../src/config/normalize/model-catalog.ts';
import { rateText } from '../../../src/config/prices/decimal.ts';
import { importPrices } from '../../../src/config/prices/import.ts';
import { writtenCatalog } from '../../../src/config/prices/written.ts';
import { shippedPrices } from '../../../src/config/shipped-prices.ts';

const NOW = new Date('2026-01-01');

describe('rates', () => {
  test.each([
    [2.5, 0, '2.5'],
    [0, 0, '0'],
    [2.5e-6, 6, '2.5'],
    [1.5e-7, 6, '0.15'],
    [7.5e-8, 6, '0.075'],
    [0.000_000_1, 6, '0.1'],
    [1e-13, 6, '0'],
    [5e-13, 6, '0.000001'],
    [0.000_03, 6, '30'],
    ['0.30', 0, '0.3'],
    [1e3, 0, '1000'],
  ])('of %p moved by %p are %p', (value, shift, text) => {
    expect(rateText(value, shift)).toBe(text);
  });

  test.each([[-1], ['-1'], [Number.NaN], [Number.POSITIVE_INFINITY], [1e300], [null], [{}], ['free']])(
    'are not made of %p',
    (value) => {
      expect(rateText(value)).toBeUndefined();
    },
  );

  test('are the decimals that were written, whatever the exponent', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999 }), (micro) => {
        const perToken = Number(`${micro}e-12`);
        expect(Number(rateText(perToken, 6))).toBe(micro / 1e6);
      }),
    );
  });
});

describe('a price list', () => {
  test('of models.dev becomes a catalogue', () => {
    const list = {
      google: {
        id: 'google',
        models: {
          'gemini-2.5-pro': {
            cost: { input: 1.25, output: 10, cache_read: 0.125, context_over_200k: { input: 2.5, output: 15 } },
          },
          old: { status: 'deprecated', cost: { input: 1, output: 1 } },
          free: {},
        },
      },
      nobody: { models: { m: { cost: { input: 1 } } } },
    };
    const { catalog, from, models, unknown } = importPrices(JSON.stringify(list), NOW);
    expect({ from, models, unknown }).toEqual({ from: 'models.dev', models: 1, unknown: ['nobody'] });
    expect(catalog.providers).toEqual({
      'gcp.gemini': {
        'gemini-2.5-pro': {
          rates: { input: '1.25', output: '10', cacheRead: '0.125' },
          tiers: [{ contextOver: 200_000, rates: { input: '2.5', output: '15' } }],
          tags: [],
        },
      },
    });
  });

  test('of LiteLLM becomes a catalogue', () => {
    const list = {
      sample_spec: { litellm_provider: 'one of', input_cost_per_token: 0 },
      'gpt-4o': {
        litellm_provider: 'openai',
        input_cost_per_token: 2.5e-6,
        output_cost_per_token: 1e-5,
        cache_read_input_token_cost: 1.25e-6,
      },
      'azure/gpt-4o': { litellm_provider: 'azure', input_cost_per_token: 2.5e-6 },
      'vertex_ai/claude-x': {
        litellm_provider: 'vertex_ai-anthropic_models',
        input_cost_per_token: 3e-6,
        input_cost_per_token_above_200k_tokens: 6e-6,
      },
      'bedrock/us-east-1/anthropic.claude': { litellm_provider: 'bedrock', input_cost_per_token: 1 },
      'anthropic.claude': { litellm_provider: 'bedrock', input_cost_per_token: 8e-6 },
      'openrouter/anthropic/claude-x': { litellm_provider: 'openrouter', input_cost_per_token: 3e-6 },
      gone: { litellm_provider: 'openai', input_cost_per_token: 1, deprecation_date: '2025-01-01' },
      'dall-e': { litellm_provider: 'openai', input_cost_per_image: 1 },
    };
    const { catalog, from } = importPrices(JSON.stringify(list), NOW);
    expect(from).toBe('LiteLLM');
    expect(catalogFromText(JSON.stringify(writtenCatalog(catalog)))).toEqual(catalog);
    expect(writtenCatalog(catalog)).toEqual({
      providers: {
        'aws.bedrock': { models: { 'anthropic.claude': { rates: { input: '8' } } } },
        azure: { models: { 'gpt-4o': { rates: { input: '2.5' } } } },
        'gcp.vertex_ai': {
          models: { 'claude-x': { rates: { input: '3' }, tiers: [{ contextOver: 200_000, rates: { input: '6' } }] } },
        },
        openai: { models: { 'gpt-4o': { rates: { input: '2.5', output: '10', cacheRead: '1.25' } } } },
        openrouter: { models: { 'anthropic/claude-x': { rates: { input: '3' } } } },
      },
    });
  });

  test.each([
    ['[]', 'not a JSON object'],
    ['{', 'not JSON'],
    ['{"a": 1}', 'neither'],
  ])('that is %s is refused', (text, why) => {
    expect(() => importPrices(text, NOW)).toThrow(why);
  });
});

test('the catalogue that is shipped reads back as it is written', () => {
  const shipped = shippedPrices();
  expect(catalogFromText(JSON.stringify(writtenCatalog(shipped)))).toEqual(shipped);
  expect(Object.keys(shipped.providers)).toContain('aws.bedrock');
});
