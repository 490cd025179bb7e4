import { z } from 'zod';
import { object } from '../build.ts';
import { celMap } from '../scalars.ts';
import { conditionally, type SettingsOf } from './conditional.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const bodyMode = z.enum(['none', 'buffered', 'bufferedPartial', 'fullDuplexStreamed']).default('fullDuplexStreamed');
const sendMode = z.enum(['send', 'skip']).default('send');

const options = object('Which parts are sent, and how.', {
  requestBodyMode: bodyMode.describe(
    '`none`, `buffered` (whole), `bufferedPartial` (its beginning), or `fullDuplexStreamed` (in pieces, as they come).',
  ),
  responseBodyMode: bodyMode.describe('The same for the response.'),
  requestHeaderMode: sendMode.describe('Whether the head of the request is sent.'),
  responseHeaderMode: sendMode.describe('The same for the response.'),
  requestTrailerMode: sendMode.describe('A body mode of `fullDuplexStreamed` sends trailers whatever this says.'),
  responseTrailerMode: sendMode.describe('The same for the response.'),
  allowModeOverride: z.boolean().default(false).describe('Whether the service may choose other modes for a request.'),
});

function shapeOf(connection: z.ZodType) {
  return {
    ...policyServiceShape(connection),
    failureMode: z
      .enum(['failClosed', 'failOpen'])
      .default('failClosed')
      .describe(
        'When the service fails, or an answer takes longer than `http.requestTimeout` of its `policies`: `failClosed` answers 500; `failOpen` lets the request pass, unless some of its body was sent.',
      ),
    metadataContext: z
      .record(z.string().min(1).max(256), celMap('Values of one namespace.'))
      .default({})
      .describe(
        'Values sent with every message, by namespace; those of `gw.dev.grpc_initial_metadata` open the call as its metadata.',
      ),
    requestAttributes: celMap('Values sent with the first message about the request.').default({}),
    responseAttributes: celMap('Values sent with the first message about the response.').default({}),
    processingOptions: options.prefault({}),
  };
}

/** `extProc`: an external service reads and changes requests and responses. */
export function extProc(connection: z.ZodType) {
  return conditionally(
    'An external service reads and changes requests and responses (Envoy v3).',
    shapeOf(connection),
    {
      id: 'ExtProc',
      rule: policyServiceRule,
    },
  );
}

export type ExtProcSpec = SettingsOf<ReturnType<typeof shapeOf>>;
