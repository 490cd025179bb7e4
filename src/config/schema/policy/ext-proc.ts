import { z } from 'zod';
import { object } from '../build.ts';
import { celMap } from '../scalars.ts';
import { conditionalList } from './conditional.ts';
import { policyServiceShape } from './policy-service.ts';

const bodyMode = z.enum(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed']).default('fullDuplexStreamed');
const sendMode = z.enum(['send', 'skip']).default('send');

/** `extProc`: an external service reads and changes requests and responses. */
export function extProc(connection: z.ZodType) {
  const shape = {
    ...policyServiceShape(connection),
    failureMode: z.enum(['failClosed', 'failOpen']).default('failClosed'),
    metadataContext: z.record(z.string(), celMap('Values of one namespace.')).optional(),
    requestAttributes: celMap('Attributes of the request.').optional(),
    responseAttributes: celMap('Attributes of the response.').optional(),
    processingOptions: object('Which parts are sent, and how.', {
      requestBodyMode: bodyMode,
      responseBodyMode: bodyMode,
      requestHeaderMode: sendMode,
      responseHeaderMode: sendMode,
      requestTrailerMode: sendMode,
      responseTrailerMode: sendMode,
      allowModeOverride: z.boolean().default(false),
    }).optional(),
  };
  return object(
    'An external service reads and changes requests and responses (Envoy v3).',
    { ...shape, conditional: conditionalList(shape).optional() },
    'ExtProc',
  );
}
