import { z } from 'zod';
import { object } from '../build.ts';
import { cel } from '../scalars.ts';
import { conditionalList } from './conditional.ts';
import { policyServiceShape } from './policy-service.ts';

const descriptor = object('What a request is counted under.', {
  entries: z.array(object('A key and its value.', { key: z.string().min(1), value: cel })).min(1),
  type: z.enum(['requests', 'tokens']).default('requests'),
  cost: cel.optional(),
  limitOverride: cel.optional(),
});

/** `remoteRateLimit`: counters kept by an external service. */
export function remoteRateLimit(connection: z.ZodType) {
  const shape = {
    ...policyServiceShape(connection),
    domain: z.string().min(1).optional(),
    descriptors: z.array(descriptor).optional(),
    failureMode: z.enum(['failClosed', 'failOpen', 'FailClosed', 'FailOpen']).default('failClosed'),
  };
  return object(
    'Counters kept by an external service (Envoy RLS v3).',
    { ...shape, conditional: conditionalList(shape).optional() },
    'RemoteRateLimit',
  );
}
