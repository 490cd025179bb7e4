import { z } from 'zod';
import { address } from './address.ts';
import { object } from './build.ts';
import { checked, notBuilt, notBuiltWhen, secret } from './marks.ts';
import { modelCatalog } from './model-catalog.ts';
import { keepalives } from './policy/tcp.ts';
import { fieldMap, fieldName, labelMap, sampling } from './observability.ts';
import { byteSize, cel, celMap, duration, headerName, headerValue, positiveDuration, uint32 } from './scalars.ts';

const database = object('A database.', {
  url: secret(z.string().min(1)).describe('postgres:// or postgresql:// is PostgreSQL, anything else SQLite.'),
  maxConnections: z.int().min(1).max(4294967295).default(5),
});

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'off'];

const logLevel = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\w:./-]+(=\w+)?(,[\w:./-]+(=\w+)?)*$/, {
    error: 'expected a level (trace, debug, info, warn, error, off) or a list such as info,module=debug',
    abort: true,
  })
  .refine((list) => unknownLevel(list) === undefined, {
    error: (issue) =>
      `expected levels among ${LEVELS.join(', ')}; ${JSON.stringify(unknownLevel(String(issue.input)))} is none`,
  });

/** The first level of a list that is not one. A part of the list is a level, or `module=level`. */
export function unknownLevel(list: string): string | undefined {
  const levels = list.split(',').map((part) => part.slice(part.indexOf('=') + 1).trim());
  return levels.find((level) => !LEVELS.includes(level.toLowerCase()));
}

const logging = object('The log of the process.', {
  level: z
    .union([logLevel, z.array(logLevel).min(1)], {
      error: () => 'expected a level such as info, or a list such as info,module=debug',
    })
    .optional()
    .describe('A level (trace, debug, info, warn, error, off), or levels by module: `info,module=debug`.'),
  format: z.enum(['text', 'json']).default('text'),
  filter: cel.optional().describe('Old place of `frontendPolicies.accessLog.filter`.'),
  fields: object('Old place of `frontendPolicies.accessLog.add` and `remove`.', {
    remove: z.array(fieldName).optional().describe('Fields to leave out.'),
    add: fieldMap('Fields to add.').optional(),
  }).optional(),
  database: notBuilt(database, '`config.logging.database`'),
});

const tracing = object('Old place of `frontendPolicies.tracing`.', {
  otlpEndpoint: z.string().min(1).max(2048).optional().describe('http:// or https:// address of the receiver.'),
  headers: z.record(headerName, secret(headerValue)).optional().describe('Headers, or metadata, of every batch.'),
  otlpProtocol: z.enum(['grpc', 'http']).optional().describe('Default: grpc.'),
  path: z
    .string()
    .max(2048)
    .regex(/^\/[!-~]*$/, { error: 'expected a path that starts with /' })
    .optional()
    .describe('Path of requests, for HTTP. Default: /v1/traces.'),
  fields: object('Attributes of spans.', {
    remove: z.array(fieldName).optional().describe('Attributes to leave out.'),
    add: celMap('Attributes to add.').optional(),
  }).optional(),
  randomSampling: sampling.optional().describe('Which requests without a trace begin one. Default: none.'),
  clientSampling: sampling.optional().describe('Which traces of clients go on. Default: all.'),
});

const backend = object('Defaults of connections to backends.', {
  keepalives: keepalives.optional(),
  connectTimeout: positiveDuration.prefault('10s').describe('Time to establish a connection.'),
  poolIdleTimeout: positiveDuration.prefault('90s').describe('How long an idle connection is kept.'),
  poolMaxSize: z
    .int()
    .min(0)
    .max(4294967295)
    .optional()
    .describe('Most idle connections kept per host. Default: no cap.'),
});

const hbone = object('Mesh tunnels.', {
  windowSize: byteSize.optional(),
  connectionWindowSize: byteSize.optional(),
  frameSize: byteSize.optional(),
  poolMaxStreamsPerConn: uint32.optional(),
  poolUnusedReleaseTimeout: duration.optional(),
});

const meshKeys = [
  'caAddress',
  'caAuthToken',
  'xdsAddress',
  'xdsAuthToken',
  'namespace',
  'gateway',
  'trustDomain',
  'serviceAccount',
  'clusterId',
  'network',
] as const;
const meshText = (key: string) => notBuilt(z.string().describe('For meshes and control planes.'), `\`config.${key}\``);
const meshShape = Object.fromEntries(meshKeys.map((key) => [key, meshText(key)])) as Record<
  (typeof meshKeys)[number],
  ReturnType<typeof meshText>
>; // fromEntries forgets the keys

/** `config`: read once, at start. */
export const processConfig = object(
  'Settings of the process, read once at start.',
  {
    enableIpv6: z.boolean().default(true).describe('Listens on [::] for both families, and resolves IPv6 addresses.'),
    dns: object('How names of backends are resolved.', {
      lookupFamily: z
        .enum(['All', 'Auto', 'V4Preferred', 'V4Only', 'V6Only'])
        .default('Auto')
        .describe('Auto: V4Preferred with IPv6, else V4Only.'),
      edns0: notBuilt(z.boolean().describe('Default: as the system resolver is set.'), '`config.dns.edns0`'),
    }).optional(),
    localXdsPath: notBuilt(z.string().describe('Another path of the dynamic file.'), '`config.localXdsPath`'),
    modelCatalog: modelCatalog.optional(),
    database: notBuilt(database, '`config.database`'),
    storage: notBuilt(
      object('Where changes made in the UI go.', { mode: z.enum(['file', 'hybrid', 'readOnly']).default('file') }),
      '`config.storage`',
    ),
    adminAddr: address.optional().describe('Admin interface. Default: localhost:15000.'),
    statsAddr: address.optional().describe('Metrics. Default: port 15020 on all addresses.'),
    readinessAddr: address.optional().describe('Readiness. Default: port 15021 on all addresses.'),
    histograms: notBuiltWhen(
      z.enum(['classic', 'native', 'both']),
      (value) => value !== 'classic',
      'a histogram kind other than classic',
    ).default('classic'),
    standardAttributes: notBuilt(
      object('Who a request belongs to.', { user: cel.optional(), group: cel.optional() }),
      '`config.standardAttributes`',
    ),
    session: object('Ids of MCP sessions.', {
      key: secret(z.string().regex(/^[0-9a-fA-F]{64}$/, { error: 'expected 64 hexadecimal digits' }))
        .optional()
        .describe('Key that they are encrypted with, 64 hexadecimal digits; the same on every replica.'),
    }).optional(),
    mcp: object('MCP sessions.', {
      sessionTtl: positiveDuration.prefault('30m').describe('How long a session may lie idle.'),
    }).optional(),
    sensitiveHeaders: z
      .array(headerName)
      .default([])
      .describe('Headers that are redacted wherever requests are shown.'),
    customFunctions: checked(z.string(), 'celFunctions')
      .optional()
      .describe(
        'Functions for expressions: definitions such as `isInternal() { request.headers["x-env"] == "internal" }`.',
      ),
    connectionTerminationDeadline: duration.optional().describe('Longest time to drain at the end. Default: 5s.'),
    connectionMinTerminationDeadline: duration
      .optional()
      .describe('Shortest time to keep accepting at the end. Default: 0.'),
    workerThreads: z
      .union([z.int().min(1).max(1024), z.string().regex(/^([1-9][0-9]{0,3}|[1-9][0-9]{0,2}%)$/)], {
        error: () => 'expected a number of threads, or a percentage such as 50%',
      })
      .optional()
      .describe('Data threads: a number, or a percentage of the processors. Default: CPU_LIMIT, or one per processor.'),
    logging: logging.optional(),
    tracing: tracing.optional(),
    metrics: object('Prometheus metrics.', {
      remove: z.array(z.string().min(1)).default([]).describe('Metrics to leave out, with or without prefix and unit.'),
      fields: object('Labels.', { add: labelMap.optional() }).optional(),
    }).optional(),
    backend: backend.optional(),
    ...meshShape,
    additionalTrustDomains: notBuilt(z.union([z.string(), z.array(z.string())]), '`config.additionalTrustDomains`'),
    skipValidateTrustDomain: notBuilt(z.boolean(), '`config.skipValidateTrustDomain`'),
    spiffe: notBuilt(object('SPIFFE Workload API.', { endpoint: z.string().optional() }), '`config.spiffe`'),
    hbone: notBuilt(hbone, '`config.hbone`'),
  },
  'ProcessConfig',
);

/** Keys that older versions had, and where their settings are now. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'config.listener': 'it was removed: its settings are in `frontendPolicies` now',
};

export type ProcessSpec = z.output<typeof processConfig>;
