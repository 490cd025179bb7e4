import { z } from 'zod';
import { object } from '../build.ts';
import { cel, positiveDuration, ratio } from '../scalars.ts';

/** `health`: takes endpoints that fail out of the choice for a while. */
export const health = object(
  'Takes endpoints that fail out of the choice for a while.',
  {
    unhealthyExpression: cel
      .optional()
      .describe(
        'Expression over request and response: when it holds, the endpoint has failed, else not. Default: 5xx, or a gRPC error. No answer at all is a failure in any case.',
      ),
    eviction: object('When an endpoint is taken out, and for how long.', {
      duration: positiveDuration
        .optional()
        .describe('First time out; each further one is longer by the same amount. Default: 3s.'),
      restoreHealth: ratio.optional().describe('Health that the endpoint comes back with.'),
      consecutiveFailures: z.int().min(1).max(2147483647).optional().describe('Failures in a row that take it out.'),
      healthThreshold: ratio.optional().describe('Health below which a failure takes it out.'),
    }).optional(),
  },
  'Health',
);
