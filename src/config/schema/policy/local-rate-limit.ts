import { z } from 'zod';
import { type AddIssue, object, withRule } from '../build.ts';
import { positiveDuration, uint32 } from '../scalars.ts';
import { conditionalList } from './conditional.ts';

const BUCKET_KEYS = ['maxTokens', 'tokensPerFill', 'fillInterval', 'type'];
const RATE_KEYS = ['requests', 'tokens', 'unit', 'burst'];

const shape = {
  maxTokens: uint32.optional().describe('Size of the bucket, which starts full.'),
  tokensPerFill: uint32.optional().describe('What each fill adds, up to the size. Default: 0, never filled again.'),
  fillInterval: positiveDuration.optional().describe('Time between fills.'),
  type: z
    .enum(['requests', 'tokens'])
    .optional()
    .describe('What is counted: requests, or the tokens of language models. Default: requests.'),
  requests: uint32.min(1).optional().describe('Other spelling: so many requests in every `unit`.'),
  tokens: uint32.min(1).optional().describe('Other spelling: so many tokens of language models in every `unit`.'),
  unit: z.enum(['Seconds', 'Minutes', 'Hours']).optional().describe('Time in which the budget comes back.'),
  burst: uint32.optional().describe('What a full budget holds beyond that. Default: 0.'),
};

/** `localRateLimit`: token buckets of this process. */
export const localRateLimit = z
  .union([
    z.array(withRule(object('A token bucket.', shape), oneSpelling)).min(1),
    object('Buckets that are chosen per request.', { conditional: conditionalList(shape, oneSpelling) }),
  ])
  .meta({
    id: 'LocalRateLimit',
    description:
      'Token buckets of this process: a request has to get one token from each that counts requests, in order; those that count tokens of language models pay for what a call used.',
  });

/** A bucket is written by its size and fills, or as a rate. */
function oneSpelling(keys: Record<string, unknown>, add: AddIssue): void {
  const rate = RATE_KEYS.filter((key) => keys[key] !== undefined);
  const plain = BUCKET_KEYS.filter((key) => keys[key] !== undefined);
  if (rate.length === 0) checkBucket(keys, add);
  else if (plain.length > 0)
    add(`\`${plain[0]}\` and \`${rate[0]}\` are two ways of writing a bucket: use only one`, {
      at: rate[0],
      code: 'GW_CONFIG_CONFLICT',
    });
  else checkRate(keys, add);
}

function checkBucket({ maxTokens, tokensPerFill, fillInterval }: Record<string, unknown>, add: AddIssue): void {
  if (maxTokens === undefined)
    add('a rate limit needs `maxTokens` and `fillInterval`, or `requests` and `unit`', { code: 'GW_CONFIG_MISSING' });
  else if (fillInterval === undefined) add('`maxTokens` needs `fillInterval` too', { code: 'GW_CONFIG_MISSING' });
  if (typeof maxTokens === 'number' && typeof tokensPerFill === 'number' && maxTokens < tokensPerFill)
    add('a fill of more than `maxTokens` would be lost', { at: 'tokensPerFill', code: 'GW_CONFIG_CONFLICT' });
}

function checkRate({ requests, tokens, unit }: Record<string, unknown>, add: AddIssue): void {
  if (requests === undefined && tokens === undefined)
    add('a rate needs `requests` or `tokens`, the number for each `unit`', { code: 'GW_CONFIG_MISSING' });
  if (requests !== undefined && tokens !== undefined)
    add('a bucket counts `requests` or `tokens`: use one bucket for each', {
      at: 'tokens',
      code: 'GW_CONFIG_CONFLICT',
    });
  if (unit === undefined) add('a rate needs `unit`: Seconds, Minutes or Hours', { code: 'GW_CONFIG_MISSING' });
}

export type LocalRateLimitSpec = z.output<typeof localRateLimit>;
export type BucketSpec = z.output<ReturnType<typeof object<typeof shape>>>;
