import type { Dump, DumpBackend, DumpMcp, DumpMcpTarget } from '../protocol/decode-config-dump.ts';

/** One MCP server and how it has been doing. The JSON form of `config mcp` is a list of these. */
export interface McpRow {
  /** The backend. */
  readonly name: string;
  readonly namespace: string;
  readonly target: string;
  /** `streamable`, `sse`, `stdio`, `openapi`. */
  readonly transport: string;
  /** Where it is, or the command with its arguments. */
  readonly address: string;
  /** Of the last call; null when nothing is known, as the numbers below. `evicted` while nobody asks it. */
  readonly state: 'ok' | 'failing' | 'notAsked' | 'evicted' | null;
  readonly failingSince: string | null;
  readonly failingForMs: number | null;
  readonly evictedForMs: number | null;
  /** That conversations have agreed on, the last one first; empty before the first conversation, and for OpenAPI. */
  readonly protocolVersions: readonly string[];
  /** Name and version, as it calls itself. */
  readonly server: string | null;
  /** Open sessions of clients that have one of it, or a program. */
  readonly sessions: number | null;
  /** As listed last. */
  readonly tools: number | null;
  /** There are more of them, on pages that nobody has asked for. */
  readonly moreTools: boolean;
  /** As clients call them; at most the first thousand. */
  readonly toolNames: readonly string[];
  readonly calls: number | null;
  /** Calls without an answer, or with a failure of HTTP. */
  readonly failures: number | null;
  /** Calls that were answered with an error of JSON-RPC. */
  readonly errors: number | null;
  readonly lastError: string | null;
  readonly lastErrorAt: string | null;
  /** Running, of a target that is a program. */
  readonly programs: number | null;
  /** Started, and waiting for a conversation; not among those that run. */
  readonly sparePrograms: number | null;
  readonly restarts: number | null;
  /** Milliseconds until a program that fails at once may be started again. */
  readonly retryInMs: number | null;
  /** Of the backend, as what follows. */
  readonly backendSessions: number | null;
  readonly stateful: boolean | null;
  readonly prefixMode: string | null;
  readonly failureMode: string | null;
}

/** A tool of an MCP server, as clients call it. The JSON form of `config mcp --tools` is a list of these. */
export interface McpToolRow {
  readonly tool: string;
  readonly name: string;
  readonly namespace: string;
  readonly target: string;
}

/** Every MCP server of the dump, in its order. */
export function mcpRows({ backends }: Dump): readonly McpRow[] {
  return backends.flatMap((backend) => {
    const { mcp } = backend;
    return mcp === undefined ? [] : mcp.targets.map((target) => rowOf(backend, mcp, target));
  });
}

/** Their tools, as far as they have been listed. */
export function mcpToolRows(dump: Dump): readonly McpToolRow[] {
  return mcpRows(dump).flatMap(({ name, namespace, target, toolNames }) =>
    toolNames.map((tool) => ({ tool, name, namespace, target })),
  );
}

function rowOf({ name, namespace }: DumpBackend, mcp: DumpMcp, target: DumpMcpTarget): McpRow {
  const { transport, address, evictedForMs = null } = target;
  return {
    name,
    namespace,
    target: target.name,
    transport,
    address,
    ...seenOf(target),
    evictedForMs,
    backendSessions: mcp.sessions ?? null,
    stateful: mcp.stateful ?? null,
    prefixMode: mcp.prefixMode ?? null,
    failureMode: mcp.failureMode ?? null,
  };
}

type Seen = Omit<
  McpRow,
  | 'name'
  | 'namespace'
  | 'target'
  | 'transport'
  | 'address'
  | 'evictedForMs'
  | 'backendSessions'
  | 'stateful'
  | 'prefixMode'
  | 'failureMode'
>;

const unseen: Seen = {
  state: null,
  failingSince: null,
  failingForMs: null,
  protocolVersions: [],
  server: null,
  sessions: null,
  tools: null,
  moreTools: false,
  toolNames: [],
  calls: null,
  failures: null,
  errors: null,
  lastError: null,
  lastErrorAt: null,
  programs: null,
  sparePrograms: null,
  restarts: null,
  retryInMs: null,
};

function seenOf({ runtime, evictedForMs }: DumpMcpTarget): Seen {
  const evicted = evictedForMs === undefined ? {} : { state: 'evicted' as const };
  if (runtime === undefined) return { ...unseen, ...evicted };
  const { tools, programs, lastError } = runtime;
  return {
    state: stateOf(runtime.state),
    failingSince: runtime.failingSince ?? null,
    failingForMs: runtime.failingForMs ?? null,
    protocolVersions: runtime.protocolVersions.toReversed(),
    server: runtime.server ?? null,
    sessions: runtime.sessions,
    tools: tools?.count ?? null,
    moreTools: tools?.more ?? false,
    toolNames: tools?.names ?? [],
    calls: runtime.calls,
    failures: runtime.failures,
    errors: runtime.errors,
    lastError: lastError?.message ?? null,
    lastErrorAt: lastError?.at ?? null,
    programs: programs?.running ?? null,
    sparePrograms: programs?.spare ?? null,
    restarts: programs?.restarts ?? null,
    retryInMs: programs?.retryInMs ?? null,
    ...evicted,
  };
}

function stateOf(text: string): McpRow['state'] {
  return text === 'ok' || text === 'failing' || text === 'notAsked' ? text : null;
}
