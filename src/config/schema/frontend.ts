import { z } from 'zod';
import { object, oneSpelling, withRule, type AddIssue } from './build.ts';
import { notBuilt, notBuiltWhen } from './marks.ts';
import { authorization } from './policy/authorization.ts';
import { policyServiceRule, policyServiceShape } from './policy/policy-service.ts';
import { keepalives } from './policy/tcp.ts';
import { networkExtAuthz, connection } from './policy-sets.ts';
import { fieldMap, fieldName, sampling } from './observability.ts';
import { byteSize, cel, celMap, positiveDuration } from './scalars.ts';
import { cipherSuites, keyExchangeGroups, tlsVersion, versionOrder } from './tls.ts';

const positiveSize = byteSize.refine((bytes) => bytes > 0, { error: 'expected at least 1 byte' });
const windowSize = byteSize.refine((bytes) => bytes >= 1 && bytes <= 2_147_483_647, {
  error: 'expected 1 to 2147483647 bytes (RFC 9113 section 6.9)',
});
const frameSize = byteSize.refine((bytes) => bytes >= 16_384 && bytes <= 16_777_215, {
  error: 'expected 16384 to 16777215 bytes (RFC 9113 section 6.5.2)',
});

const http = object('HTTP on every listener.', {
  maxBufferSize: positiveSize.prefault('2Mi').describe('Largest body that is ever held in memory.'),
  http1MaxHeaders: z.int().min(1).max(4096).default(100).describe('Most headers of an HTTP/1.1 request.'),
  http1IdleTimeout: positiveDuration
    .prefault('10m')
    .describe('How long a connection may stay without a request, or a request head may take.'),
  http1HeaderCase: z
    .enum(['lowercase', 'preserve'])
    .default('lowercase')
    .describe('How header names are written to HTTP/1.1.'),
  http2WindowSize: windowSize.optional().describe('Flow-control window of a stream.'),
  http2ConnectionWindowSize: windowSize.optional().describe('Flow-control window of a connection.'),
  http2FrameSize: frameSize.optional().describe('Largest frame accepted.'),
  http2MaxHeaderSize: positiveSize.optional().describe('Largest header list accepted.'),
  http2KeepaliveInterval: positiveDuration.optional().describe('Time between pings.'),
  http2KeepaliveTimeout: positiveDuration.optional().describe('How long an answer to a ping may take.'),
  maxConnectionDuration: positiveDuration
    .optional()
    .describe('Age at which a connection is closed after the request it serves.'),
  streamIdleTimeout: positiveDuration.prefault('5m').describe('A body on which nothing moves for this long is cut.'),
  forwardedHeaders: z
    .enum(['append', 'overwrite', 'off'])
    .default('append')
    .describe('What happens to x-forwarded-for, x-forwarded-proto and x-forwarded-host.'),
});

const alpn = z
  .array(
    z.union([z.string().min(1).max(255), z.array(z.int().min(0).max(255)).min(1).max(255)], {
      error: () => 'expected a protocol such as h2, or its bytes',
    }),
  )
  .min(1)
  .max(16)
  .describe('Protocols offered, in order of preference, as texts or as lists of bytes.');

const tls = withRule(
  object('TLS on every listener.', {
    handshakeTimeout: positiveDuration.prefault('15s').describe('Longest time for a handshake.'),
    alpn: alpn.optional(),
    minVersion: tlsVersion.optional(),
    maxVersion: tlsVersion.optional(),
    cipherSuites: cipherSuites.optional(),
    keyExchangeGroups: keyExchangeGroups.optional(),
  }),
  (value, add) => versionOrder(value['minVersion'], value['maxVersion'], add),
);

const proxyProtocol = object('Connections start with the PROXY protocol, on every listener.', {
  version: z.enum(['v1', 'v2', 'all']).default('v2'),
  mode: z
    .enum(['strict', 'optional'])
    .default('strict')
    .describe('`strict`: every connection starts with it; `optional`: it may.'),
});

const service = policyServiceShape(connection);
const protocol = z.enum(['grpc', 'http']).default('grpc').describe('OTLP over gRPC, or over HTTP with protobuf.');
const httpPath = (path: string) =>
  z
    .string()
    .max(2048)
    .regex(/^\/[\u0021-\u007e]*$/, { error: 'expected a path that starts with /' })
    .default(path)
    .describe('Path of requests, for HTTP.');

const accessLog = object('The access log.', {
  filter: cel.optional().describe('Only requests for which it holds are logged.'),
  add: fieldMap('Fields to add.').optional(),
  remove: z.array(fieldName).default([]).describe('Fields to leave out.'),
  otlp: withRule(
    object('Sends the log by OTLP.', {
      ...service,
      filter: cel.optional().describe('Only requests for which it holds are sent. Default: that of the log.'),
      fields: object('Fields. Default: those of the log.', {
        add: celMap('Fields to add.').optional(),
        remove: z.array(fieldName).optional().describe('Fields to leave out.'),
      }).optional(),
      protocol,
      path: httpPath('/v1/logs'),
    }),
    policyServiceRule,
  ).optional(),
  database: notBuilt(
    object('Keeps the log in the database.', {
      llm: z.enum(['metadata', 'full']).optional(),
      add: celMap('Fields to add.').optional(),
    }),
    '`accessLog.database`',
  ),
});

const tracing = withRule(
  object('Sends traces by OTLP.', {
    ...service,
    attributes: celMap('Attributes of spans to add.').optional(),
    resources: celMap('Attributes of the gateway itself, evaluated once.').optional(),
    remove: z.array(fieldName).default([]).describe('Attributes of spans to leave out.'),
    randomSampling: sampling.optional().describe('Which requests without a trace begin one. Default: none.'),
    clientSampling: sampling.optional().describe('Which traces of clients go on. Default: all.'),
    filter: cel.optional().describe('Only requests for which it holds are exported.'),
    protocol,
    path: httpPath('/v1/traces'),
  }),
  policyServiceRule,
);

const connect = object('What happens to CONNECT requests.', {
  mode: notBuiltWhen(z.enum(['deny', 'route', 'tunnel']), (value) => value === 'tunnel', 'the CONNECT mode `tunnel`'),
});

/** `frontendPolicies`: for every listener. */
export const frontendPolicies = withRule(
  object(
    'Policies of every listener.',
    {
      http: http.optional(),
      tls: tls.optional(),
      tcp: object('TCP on every listener.', { keepalives }).optional(),
      networkAuthorization: authorization.optional(),
      networkExtAuthz: networkExtAuthz.optional(),
      proxyProtocol: proxyProtocol.optional(),
      proxy: proxyProtocol.optional().describe('Other spelling of `proxyProtocol`.'),
      connect: connect.optional(),
      accessLog: accessLog.optional(),
      logging: accessLog.optional().describe('Other spelling of `accessLog`.'),
      tracing: tracing.optional(),
    },
    'FrontendPolicies',
  ),
  aliases,
);

function aliases(value: Record<string, unknown>, add: AddIssue): void {
  oneSpelling(value, add, ['proxyProtocol', 'proxy']);
  oneSpelling(value, add, ['accessLog', 'logging']);
}

export type FrontendSpec = z.output<typeof frontendPolicies>;
