import { isSecretName, redactQuery } from '../../../src/admin/protocol/redact.ts';
import type { McpBackend, McpPlace, McpServer, McpSessions, McpTarget } from '../../../src/config/ir/index.ts';
import { formatDuration } from '../../../src/shared/duration.ts';
import { REDACTED } from '../../../src/shared/secret.ts';
import { infoDump } from './endpoint-info.ts';
import type { LiveMembers } from './models.ts';
import { backendPolicies } from './policies.ts';
import { targetText } from './target-text.ts';

type Shown = Readonly<Record<string, unknown>>;

/** The servers behind one address, each with the numbers of its endpoint; programs have none. */
export function mcpTarget(backend: McpBackend, live: LiveMembers, sessions: McpSessions): Shown {
  const { targets, stateful, prefixMode, failureMode, dnsRebindingProtection } = backend;
  return {
    targets: targets.map((target) => targetDump(target, live)),
    stateful,
    prefixMode,
    failureMode,
    dnsRebindingProtection,
    sessionIdleTtl: formatDuration(sessions.ttlMs),
  };
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
