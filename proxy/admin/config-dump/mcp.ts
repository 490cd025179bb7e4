import { isSecretName, redactQuery } from '../../../src/admin/protocol/redact.ts';
import type { McpRuntimeDump, McpToolsDump } from '../../../src/admin/protocol/config-dump.ts';
import type { McpBackend, McpPlace, McpServer, McpSessions, McpTarget } from '../../../src/config/ir/index.ts';
import { Naming } from '../../mcp/federation/naming.ts';
import type { McpLive, TargetNumbers } from '../../mcp/records/live.ts';
import type { ToolsReport } from '../../mcp/records/report.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { REDACTED } from '../../../src/shared/secret.ts';
import { infoDump } from './endpoint-info.ts';
import type { LiveMembers } from './models.ts';
import { backendPolicies } from './policies.ts';
import { targetText } from './target-text.ts';

type Shown = Readonly<Record<string, unknown>>;

/** What servers are shown with. */
export interface McpSurroundings {
  readonly live: LiveMembers;
  readonly sessions: McpSessions;
  /** What data threads have seen; undefined where nothing runs. */
  readonly mcp?: McpLive | undefined;
}

/** The servers behind one address, each with the numbers of its endpoint (programs have none) and what is known of it. */
export function mcpTarget(backend: McpBackend, { live, sessions, mcp }: McpSurroundings): Shown {
  const { key, targets, stateful, prefixMode, failureMode, dnsRebindingProtection } = backend;
  const names = targets.map(({ name }) => name);
  const naming = new Naming(names, prefixMode);
  const runtime = ({ name }: McpTarget): Shown => {
    const numbers = mcp?.target(key, name);
    if (mcp === undefined || numbers === undefined) return {};
    const nameOut = (tool: string): string => naming.nameOut(naming.indexOf(name), tool);
    return { runtime: runtimeDump(numbers, mcp.nowMs, nameOut) };
  };
  return {
    targets: targets.map((target) => ({ ...targetDump(target, live), ...runtime(target) })),
    ...(mcp === undefined ? {} : { sessions: mcp.sessionsOf(key) }),
    stateful,
    prefixMode,
    failureMode,
    dnsRebindingProtection,
    sessionIdleTtl: formatDuration(sessions.ttlMs),
  };
}

function runtimeDump(numbers: TargetNumbers, nowMs: number, nameOut: (tool: string) => string): McpRuntimeDump {
  const { failingSince, failedAt, answeredAt, versions, server, programs, tools, lastError } = numbers;
  const { sessions, calls, failures, errors } = numbers;
  const asked = answeredAt > 0 || failedAt > 0;
  return {
    state: failingSince > 0 ? 'failing' : asked ? 'ok' : 'notAsked',
    ...(failingSince > 0
      ? { failingSince: timeText(failingSince), failingFor: formatDuration(nowMs - failingSince) }
      : {}),
    protocolVersions: versions,
    ...(server === null ? {} : { server }),
    sessions,
    calls,
    failures,
    errors,
    ...(lastError === null ? {} : { lastError: { message: lastError, at: timeText(failedAt) } }),
    ...(tools === null ? {} : { tools: toolsDump(tools, nameOut) }),
    ...(programs === null
      ? {}
      : {
          programs: {
            running: programs.running,
            ...(programs.spare > 0 ? { spare: programs.spare } : {}),
            restarts: programs.restarts,
            ...(programs.notBefore > nowMs ? { retryIn: formatDuration(Math.ceil(programs.notBefore - nowMs)) } : {}),
          },
        }),
  };
}

function toolsDump({ count, names, more }: ToolsReport, nameOut: (tool: string) => string): McpToolsDump {
  return { count, more, names: names.map(nameOut) };
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}

function targetDump({ name, key, server, policies }: McpTarget, live: LiveMembers): Shown {
  const inlinePolicies = backendPolicies(policies);
  return {
    name,
    ...serverDump(server),
    ...(inlinePolicies.length > 0 ? { inlinePolicies } : {}),
    ...(server.kind === 'stdio' ? {} : { info: infoDump(live.ofMember(key), live.nowMs) }),
  };
}

function serverDump(server: McpServer): Shown {
  switch (server.kind) {
    case 'streamable':
      return { mcp: place(server) };
    case 'sse':
      return { sse: place(server) };
    case 'openapi':
      return { openapi: { ...place(server), schema: shownSchema(server.schema) } };
    case 'stdio': {
      const { command, args, env, clearEnv } = server;
      return { stdio: { cmd: command, args: shownArgs(args), env, clearEnv } };
    }
  }
}

/** Queries of addresses may hold credentials. */
function place({ at, path }: { readonly at: McpPlace; readonly path: string }): Shown {
  const where = at.kind === 'backend' ? { backend: at.backend } : { host: targetText(at.target) };
  return { ...where, path: redactQuery(path) };
}

/** Documents are long: whoever wants one has it. */
function shownSchema(schema: Extract<McpServer, { kind: 'openapi' }>['schema']): Shown {
  if (schema.kind === 'remote') return { url: redactQuery(schema.url) };
  const { document } = schema;
  const version: unknown =
    typeof document === 'object' && document !== null ? Reflect.get(document, 'openapi') : undefined;
  return { inline: { openapi: version } };
}

/** `--token=x` and `--token x` keep their names. */
function shownArgs(args: readonly string[]): readonly string[] {
  return args.map((arg, index) => {
    const before = args[index - 1] ?? '';
    if (before.startsWith('-') && !before.includes('=') && !arg.startsWith('-') && isSecretName(before))
      return REDACTED;
    const equals = arg.indexOf('=');
    return equals > 0 && isSecretName(arg.slice(0, equals)) ? `${arg.slice(0, equals)}=${REDACTED}` : arg;
  });
}
