import { z } from 'zod';
import { object } from '../build.ts';
import { positiveDuration } from '../scalars.ts';
import { conditionalList } from './conditional.ts';

const count = z.int().min(0).default(0);

const shape = {
  maxTokens: count.describe('Size of the bucket.'),
  tokensPerFill: count.describe('What each fill adds.'),
  fillInterval: positiveDuration,
  type: z
    .enum(['requests', 'tokens'])
    .default('requests')
    .describe('What is counted: requests, or the tokens of language models.'),
};

/** `localRateLimit`: token buckets of this process. */
export const localRateLimit = z
  .union([
    z.array(object('A token bucket.', shape)),
    object('Buckets that are chosen per request.', { conditional: conditionalList(shape) }),
  ])
  .meta({ id: 'LocalRateLimit', description: 'Token buckets of this process.' });
