import { z } from 'zod';
import { exactlyOne, object } from './build.ts';

const rate = z.string({ error: 'expected a decimal text in quotes, such as "2.50"' }).regex(/^\d{1,9}(\.\d{1,6})?$/, {
  error: 'expected dollars for a million tokens, with at most six digits behind the point',
});

const rates = object('Dollars for a million tokens, as decimal texts.', {
  input: rate.optional().describe('Input.'),
  output: rate.optional().describe('Output.'),
  cacheRead: rate.optional().describe('Input that came out of a cache. Default: as input.'),
  cacheWrite: rate.optional().describe('Input that went into a cache. Default: as input.'),
  reasoning: rate.optional().describe('Output that nobody reads. Default: as output.'),
  inputAudio: rate.optional().describe('Input that was heard. Default: as input.'),
  outputAudio: rate.optional().describe('Output that is heard. Default: as output.'),
});

const tier = object('Prices of requests with a larger context.', {
  contextOver: z.int().min(0).describe('Tokens of input, caches included, above which the tier counts.'),
  rates: rates.describe('Rates that change.'),
});

const prices = object('Prices of a model.', {
  rates: rates.optional(),
  tiers: z
    .array(tier)
    .refine(
      (tiers) => tiers.every(({ contextOver }, at) => at === 0 || contextOver > (tiers[at - 1]?.contextOver ?? 0)),
      {
        error: 'each tier has to begin above the one before',
      },
    )
    .optional()
    .describe('By rising size of the context.'),
  tags: z.array(z.string()).optional().describe('What the model can do, for providers that ask.'),
});

const provider = object('Models of a provider.', {
  models: z.record(z.string().min(1), prices).describe('Prices by the name of the model.'),
});

/** A catalogue by itself, as files hold it. */
export const catalogText = object('A catalogue of prices.', {
  providers: z
    .record(z.string().min(1), provider)
    .describe('By identity: openai, anthropic, aws.bedrock, gcp.gemini, …'),
});

const source = exactlyOne(
  object('A source of prices; exactly one key.', {
    file: z
      .string()
      .min(1)
      .optional()
      .describe('A catalogue in JSON or YAML. It is watched; a missing one is passed over.'),
    inline: z
      .union([z.string(), catalogText], { error: 'expected a catalogue, or one as a text' })
      .optional()
      .describe('A catalogue, or its text.'),
    builtin: z
      .literal(true)
      .optional()
      .describe('The catalogue that comes with gwctl: list prices of well-known models.'),
  }),
  'a source of prices',
  ['file', 'inline', 'builtin'],
);

/** `config.modelCatalog` */
export const modelCatalog = z
  .array(source)
  .describe('What models cost. Later sources win over earlier ones, rate by rate.');

export type CatalogSpec = z.output<typeof catalogText>;
export type CatalogSourceSpec = z.output<typeof source>;
