import { z } from 'zod';
import { object } from '../build.ts';
import { cel, shortString } from '../scalars.ts';
import { conditionally, type SettingsOf } from './conditional.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const descriptor = object('What a request is counted under. It is left out when one of its expressions fails.', {
  entries: z
    .array(object('A key and its value.', { key: shortString, value: cel }))
    .min(1)
    .max(16),
  type: z
    .enum(['requests', 'tokens'])
    .default('requests')
    .describe('What is counted: requests, or the tokens of language models.'),
  cost: cel
    .optional()
    .describe('How much the request counts: a whole number, not negative. Default: 1, or the tokens that a call used.'),
  limitOverride: cel
    .optional()
    .describe(
      'A map of `requestsPerUnit` and `unit` (second, minute, hour, day, month, year) that replaces the limit.',
    ),
});

const failureMode = z
  .enum(['failClosed', 'failOpen', 'FailClosed', 'FailOpen'])
  .transform((mode) => (mode === 'failOpen' || mode === 'FailOpen' ? 'failOpen' : 'failClosed'));

function shapeOf(connection: z.ZodType) {
  return {
    ...policyServiceShape(connection),
    domain: z.string().min(1).max(1024).describe('Which set of limits of the service.'),
    descriptors: z.array(descriptor).min(1).max(16),
    failureMode: failureMode
      .default('failClosed')
      .describe('When the service cannot be asked: `failClosed` answers 500, `failOpen` lets the request pass.'),
  };
}

/** `remoteRateLimit`: counters kept by an external service. */
export function remoteRateLimit(connection: z.ZodType) {
  return conditionally('Counters kept by an external service (Envoy RLS v3).', shapeOf(connection), {
    id: 'RemoteRateLimit',
    rule: policyServiceRule,
  });
}

export type RemoteRateLimitSpec = SettingsOf<ReturnType<typeof shapeOf>>;
