import { parseDurationMs } from '../../shared/duration.ts';
import { Secret } from '../../shared/secret.ts';
import type { McpSessions } from '../ir/mcp.ts';
import type { DnsLookupFamily, Locality, ProcessConfig } from '../ir/process.ts';
import { keepalives as keepalivesSchema } from '../schema/policy/tcp.ts';
import { unknownLevel, type ProcessSpec } from '../schema/process.ts';
import type { Context } from './context.ts';
import { credentialEnvironment } from './credential-environment.ts';
import { Environment } from './environment.ts';
import { keepalives } from './policy.ts';
import { telemetryResource } from './telemetry-resource.ts';

const LOOKUP_FAMILIES: readonly DnsLookupFamily[] = ['All', 'Auto', 'V4Preferred', 'V4Only', 'V6Only'];
const DEFAULT_DEADLINE_MS = 5000;

/** The `config` section with its defaults; the environment wins over the file. */
export function processConfig(context: Context, spec: ProcessSpec): ProcessConfig {
  const settings = new Environment(context);
  const enableIpv6 = settings.read('IPV6_ENABLED', boolean, 'true or false') ?? spec.enableIpv6;
  const wildcard = enableIpv6 ? '[::]' : '0.0.0.0';
  const { backend } = spec;
  return {
    enableIpv6,
    dns: {
      lookupFamily:
        settings.read('DNS_LOOKUP_FAMILY', lookupFamily, `one of ${LOOKUP_FAMILIES.join(', ')}`) ??
        spec.dns?.lookupFamily ??
        'Auto',
    },
    locality: locality(settings),
    env: {
      podName: settings.read('POD_NAME', named, 'a name'),
      namespace: settings.read('NAMESPACE', named, 'a name'),
      gateway: settings.read('GATEWAY', named, 'a name'),
    },
    credentialEnvironment: credentialEnvironment(context),
    adminAddr: settings.address('ADMIN_ADDR', {
      key: 'adminAddr',
      text: spec.adminAddr,
      fallback: 'localhost:15000',
      enableIpv6,
    }),
    statsAddr: settings.address('STATS_ADDR', {
      key: 'statsAddr',
      text: spec.statsAddr,
      fallback: `${wildcard}:15020`,
      enableIpv6,
    }),
    readinessAddr: settings.address('READINESS_ADDR', {
      key: 'readinessAddr',
      text: spec.readinessAddr,
      fallback: `${wildcard}:15021`,
      enableIpv6,
    }),
    sensitiveHeaders: [...new Set(spec.sensitiveHeaders.map((name) => name.toLowerCase()))],
    customFunctions: spec.customFunctions,
    ...deadlines(context, settings, spec),
    workerThreads: workerThreads(context, settings, spec),
    logging: {
      level: logLevel(settings, spec),
      format: settings.read('LOG_FORMAT', format, 'text or json') ?? spec.logging?.format ?? 'text',
    },
    metrics: { add: Object.entries(spec.metrics?.fields?.add ?? {}), remove: spec.metrics?.remove ?? [] },
    telemetry: telemetryResource(settings),
    histograms: 'classic',
    mcpSessions: mcpSessions(settings, spec),
    backend: {
      keepalives: keepalives(backend?.keepalives ?? keepalivesSchema.parse({})),
      connectTimeoutMs: backend?.connectTimeout ?? 10_000,
      poolIdleTimeoutMs: backend?.poolIdleTimeout ?? 90_000,
      poolMaxSize: backend?.poolMaxSize,
    },
  };
}

/** The key of the environment wins over that of the file. */
function mcpSessions(settings: Environment, { session, mcp }: ProcessSpec): McpSessions {
  const key = settings.read('SESSION_KEY', sessionKey, '64 hexadecimal digits') ?? session?.key;
  return { key: key === undefined ? undefined : new Secret(key.toLowerCase()), ttlMs: mcp?.sessionTtl ?? 1_800_000 };
}

function sessionKey(text: string): string | undefined {
  return /^[0-9a-f]{64}$/i.test(text) ? text : undefined;
}

function deadlines(
  context: Context,
  settings: Environment,
  spec: ProcessSpec,
): Pick<ProcessConfig, 'terminationMaxDeadlineMs' | 'terminationMinDeadlineMs'> {
  const duration = 'a duration such as 30s';
  const max =
    settings.read('CONNECTION_TERMINATION_DEADLINE', parseDurationMs, duration) ?? spec.connectionTerminationDeadline;
  const min =
    settings.read('CONNECTION_MIN_TERMINATION_DEADLINE', parseDurationMs, duration) ??
    spec.connectionMinTerminationDeadline ??
    0;
  if (max !== undefined && min > max) {
    context.report(
      ['config', 'connectionMinTerminationDeadline'],
      'GW_CONFIG_CONFLICT',
      'the shortest time to drain is longer than the longest (`connectionTerminationDeadline`)',
    );
  }
  const grace = settings.read('TERMINATION_GRACE_PERIOD_SECONDS', number, 'a number of seconds');
  return {
    terminationMinDeadlineMs: min,
    terminationMaxDeadlineMs: max ?? Math.max(min, grace === undefined ? DEFAULT_DEADLINE_MS : insideGrace(grace)),
  };
}

/** Leaves time for the process to end before it is killed. */
function insideGrace(seconds: number): number {
  return Math.max(1, seconds > 10 ? seconds - 5 : seconds - 1) * 1000;
}

function workerThreads(context: Context, settings: Environment, spec: ProcessSpec): number {
  const limit = settings.read('CPU_LIMIT', number, 'a number of processors');
  const cpus = Math.max(1, Math.ceil(limit ?? context.host.cpus));
  const wanted = settings.read('WORKER_THREADS', threads, 'a number of threads, or a percentage') ?? spec.workerThreads;
  if (wanted === undefined) return cpus;
  const text = String(wanted);
  return text.endsWith('%') ? Math.max(1, Math.ceil((cpus * Number(text.slice(0, -1))) / 100)) : Number(text);
}

/** `LOCALITY` is `region/zone/subzone`; the other scopes have variables of their own. */
function locality(settings: Environment): Locality | undefined {
  const place = settings.read('LOCALITY', localityParts, 'region, region/zone or region/zone/subzone');
  const node = settings.read('NODE_NAME', named, 'a name');
  const cluster = settings.read('CLUSTER_ID', named, 'a name');
  const network = settings.read('NETWORK', named, 'a name');
  if ([place, node, cluster, network].every((part) => part === undefined)) return undefined;
  const [region = '', zone = '', subzone = ''] = place ?? [];
  return { region, zone, subzone, node: node ?? '', cluster: cluster ?? '', network: network ?? '' };
}

function localityParts(value: string): readonly string[] | undefined {
  const parts = value.split('/');
  return parts.length <= 3 && parts[0] !== '' ? parts : undefined;
}

function named(value: string): string | undefined {
  return value === '' ? undefined : value;
}

function logLevel(settings: Environment, spec: ProcessSpec): string {
  const { level } = spec.logging ?? {};
  const fromFile = level === undefined ? 'info' : typeof level === 'string' ? level : level.join(',');
  return (
    settings.read(
      'RUST_LOG',
      (text) => (unknownLevel(text) === undefined ? text : undefined),
      'a level such as info, or a list such as info,module=debug',
    ) ?? fromFile
  );
}

function boolean(text: string): boolean | undefined {
  if (text === 'true' || text === '1') return true;
  return text === 'false' || text === '0' ? false : undefined;
}

function number(text: string): number | undefined {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  return value > 0 && value < 1e9 ? value : undefined;
}

function threads(text: string): string | undefined {
  return /^([1-9][0-9]{0,2}|[1-9][0-9]{0,2}%)$/.test(text) ? text : undefined;
}

function format(text: string): 'text' | 'json' | undefined {
  return text === 'text' || text === 'json' ? text : undefined;
}

function lookupFamily(text: string): DnsLookupFamily | undefined {
  return LOOKUP_FAMILIES.find((family) => family.toLowerCase() === text.toLowerCase());
}
