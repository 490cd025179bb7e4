import { z } from 'zod';
import { object } from '../build.ts';
import { byteSize, cel, celMap, duration, headerName, headerOrPseudo, status } from '../scalars.ts';
import { conditionalList } from './conditional.ts';
import { policyServiceShape } from './policy-service.ts';

const protocol = object('How the service is asked; exactly one key. Default: gRPC.', {
  grpc: object('The Envoy v3 Check call.', {
    context: z.record(z.string(), z.string()).optional(),
    metadata: celMap('Metadata sent along.').optional(),
  }).optional(),
  http: object('A plain HTTP request; status 200 allows.', {
    path: cel.optional(),
    redirect: cel.optional().describe('Where to send clients that are answered with 401 or 403.'),
    body: cel.optional(),
    includeResponseHeaders: z.array(headerName).default([]).describe('Headers of the answer that go to the backend.'),
    addRequestHeaders: celMap('Headers added to the question.').optional(),
    metadata: celMap('Values that later expressions see as `extauthz`.').optional(),
  }).optional(),
});

/** `extAuthz`: an external service decides. */
export function extAuthz(connection: z.ZodType) {
  const shape = {
    ...policyServiceShape(connection),
    protocol: protocol.optional(),
    failureMode: z
      .union([z.enum(['allow', 'deny']), object('A status of its own.', { denyWithStatus: status() })])
      .optional()
      .describe('What happens when the service cannot be asked. Default: deny, with 403.'),
    includeRequestHeaders: z.array(headerOrPseudo).default([]),
    includeRequestBody: object('Sends the body along.', {
      maxRequestBytes: byteSize.prefault(8192),
      allowPartialMessage: z.boolean().default(false),
      packAsBytes: z.boolean().default(false),
    }).optional(),
    cache: object('Remembers decisions.', {
      key: z.array(cel).min(1).max(16),
      ttl: z.union([duration, cel]),
      maxEntries: z.int().min(0).default(10_000),
    }).optional(),
  };
  return object(
    'An external service decides.',
    { ...shape, conditional: conditionalList(shape).optional() },
    'ExtAuthz',
  );
}
