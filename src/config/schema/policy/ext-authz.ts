import { z } from 'zod';
import { type AddIssue, exactlyOne, object, withRule } from '../build.ts';
import { byteSize, cel, celMap, duration, headerName, headerOrPseudo, status } from '../scalars.ts';
import { conditionally, type SettingsOf } from './conditional.ts';
import { policyServiceRule, policyServiceShape } from './policy-service.ts';

const http = object('A plain HTTP request; status 200 allows.', {
  path: cel.optional().describe('Path and query of the question. Default: those of the request.'),
  redirect: cel.optional().describe('Where to send clients that are answered with 401 or 403.'),
  body: cel.optional().describe('Body of the question. Default: what `includeRequestBody` sends.'),
  includeResponseHeaders: z.array(headerName).default([]).describe('Headers of the answer that go to the backend.'),
  addRequestHeaders: z.record(headerName, cel).default({}).describe('Headers added to the question.'),
  metadata: celMap('Values that later expressions see as `extauthz`.').default({}),
});

const protocol = exactlyOne(
  object('How the service is asked; exactly one key. Default: gRPC.', {
    grpc: object('The Envoy v3 Check call.', {
      context: z.record(z.string(), z.string()).default({}).describe('Texts that are sent as they stand.'),
      metadata: celMap('Objects sent along, by namespace. Default: the claims of a verified token.').optional(),
    }).optional(),
    http: http.optional(),
  }),
  'the protocol',
  ['grpc', 'http'],
);

const body = object('Sends the body along.', {
  maxRequestBytes: byteSize.prefault(8192).describe('A larger body is refused with 413.'),
  allowPartialMessage: z.boolean().default(false).describe('Sends the beginning of a larger body instead.'),
  packAsBytes: z.boolean().default(false).describe('As bytes, not as text; for gRPC.'),
});

const cache = object('Remembers decisions.', {
  key: z.array(cel).min(1).max(16).describe('Requests with equal values share a decision.'),
  ttl: z
    .union([duration, cel])
    .describe('How long: a duration, or an expression that gives a duration, a timestamp or Unix seconds.'),
  maxEntries: z.int().min(0).default(10_000).describe('Of each thread; 0 is the default.'),
});

function shapeOf(connection: z.ZodType) {
  return {
    ...policyServiceShape(connection),
    protocol: protocol.optional(),
    failureMode: z
      .union([z.enum(['allow', 'deny']), object('A status of its own.', { denyWithStatus: status(200) })])
      .default('deny')
      .describe('What happens when the service cannot be asked: `deny` answers 403.'),
    includeRequestHeaders: z
      .array(headerOrPseudo)
      .default([])
      .describe('Headers of the request that are sent. Default: all for gRPC, `authorization` for HTTP.'),
    includeRequestBody: body.optional(),
    cache: cache.optional(),
  };
}

/** `extAuthz`: an external service decides. */
export function extAuthz(connection: z.ZodType) {
  return conditionally('An external service decides.', shapeOf(connection), { id: 'ExtAuthz', rule });
}

/** The same where there is nothing to choose by: at backends. */
export function plainExtAuthz(connection: z.ZodType) {
  return withRule(object('An external service decides.', shapeOf(connection), 'BackendExtAuthz'), rule);
}

/** The same for connections, which have an address and nothing else to ask about. */
export function networkExtAuthz(connection: z.ZodType) {
  const {
    includeRequestHeaders: _headers,
    includeRequestBody: _body,
    failureMode,
    cache: memory,
    ...target
  } = shapeOf(connection);
  const question = object('A GET request; status 200 allows.', {
    path: cel.optional().describe('Path and query of the question. Default: /.'),
    body: cel.optional().describe('Body of the question.'),
    addRequestHeaders: http.shape.addRequestHeaders,
  });
  return withRule(
    object(
      'An external service decides about each connection.',
      { ...target, protocol: object('How the service is asked.', { http: question }), failureMode, cache: memory },
      'NetworkExtAuthz',
    ),
    policyServiceRule,
  );
}

function rule(keys: Record<string, unknown>, add: AddIssue): void {
  policyServiceRule(keys, add);
  const { protocol: chosen, includeRequestBody } = keys;
  const asked: unknown = typeof chosen === 'object' && chosen !== null ? Reflect.get(chosen, 'http') : undefined;
  if (typeof asked !== 'object' || asked === null || includeRequestBody === undefined) return;
  if (Reflect.get(asked, 'body') !== undefined)
    add('`includeRequestBody` and `protocol.http.body` both give the body: use only one', {
      at: 'includeRequestBody',
      code: 'GW_CONFIG_CONFLICT',
    });
}

export type ExtAuthzSpec = SettingsOf<ReturnType<typeof shapeOf>>;
export type NetworkExtAuthzSpec = z.output<ReturnType<typeof networkExtAuthz>>;
