import { parseDurationMs } from '../../shared/duration.ts';
import { asArray, asNumber, asObject, asText, isObject, textsOf, type JsonObject } from './lenient.ts';

/** A backend of MCP servers. */
export interface DumpMcp {
  /** Undefined where the server does not say, as the other settings. */
  readonly stateful: boolean | undefined;
  readonly prefixMode: string | undefined;
  readonly failureMode: string | undefined;
  /** Open sessions of clients. */
  readonly sessions: number | undefined;
  readonly targets: readonly DumpMcpTarget[];
}

export interface DumpMcpTarget {
  readonly name: string;
  /** `streamable`, `sse`, `stdio`, `openapi`; empty where it cannot be told. */
  readonly transport: string;
  /** Where it is, or the command with its arguments. */
  readonly address: string;
  /** Milliseconds until a target that is set aside comes back. */
  readonly evictedForMs: number | undefined;
  /** Undefined where the server does not tell what it has seen. */
  readonly runtime: DumpMcpRuntime | undefined;
}

export interface DumpMcpRuntime {
  /** `ok`, `failing`, `notAsked`. */
  readonly state: string;
  readonly failingSince: string | undefined;
  readonly failingForMs: number | undefined;
  /** The last one last. */
  readonly protocolVersions: readonly string[];
  /** Name and version. */
  readonly server: string | undefined;
  readonly sessions: number;
  readonly calls: number;
  readonly failures: number;
  readonly errors: number;
  readonly lastError: { readonly message: string; readonly at: string } | undefined;
  readonly tools: DumpMcpTools | undefined;
  readonly programs: DumpMcpPrograms | undefined;
}

export interface DumpMcpTools {
  readonly count: number;
  readonly more: boolean;
  readonly names: readonly string[];
}

export interface DumpMcpPrograms {
  readonly running: number;
  readonly spare: number;
  readonly restarts: number;
  readonly retryInMs: number | undefined;
}

const TRANSPORTS = { mcp: 'streamable', sse: 'sse', stdio: 'stdio', openapi: 'openapi' } as const;

/** Reads what stands under `target` of a backend of MCP servers. */
export function decodeMcp(value: unknown): DumpMcp {
  const target = asObject(value);
  return {
    stateful: typeof target['stateful'] === 'boolean' ? target['stateful'] : undefined,
    prefixMode: asText(target['prefixMode']),
    failureMode: asText(target['failureMode']),
    sessions: asNumber(target['sessions']),
    targets: asArray(target['targets']).flatMap((each) => (isObject(each) ? [decodeTarget(each)] : [])),
  };
}

function decodeTarget(value: JsonObject): DumpMcpTarget {
  const server = serverOf(value);
  return {
    name: asText(value['name']) ?? '',
    ...server,
    evictedForMs: durationOf(asObject(value['info'])['evictedUntil']),
    runtime: isObject(value['runtime']) ? decodeRuntime(value['runtime']) : undefined,
  };
}

/** Some servers wrap the kind in a `spec`. */
function serverOf(value: JsonObject): Pick<DumpMcpTarget, 'transport' | 'address'> {
  const place = isObject(value['spec']) ? value['spec'] : value;
  for (const [key, transport] of Object.entries(TRANSPORTS)) {
    const server = place[key];
    if (isObject(server)) return { transport, address: key === 'stdio' ? commandText(server) : addressText(server) };
  }
  return { transport: '', address: '' };
}

function commandText(server: JsonObject): string {
  const command = asText(server['cmd']) ?? asText(server['command']) ?? '';
  return [command, ...textsOf(server['args'])].map(quoted).join(' ');
}

/** As a shell would need it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./<>-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function addressText(server: JsonObject): string {
  const host = asText(server['host']) ?? asText(server['backend']) ?? '';
  const port = asText(server['port']);
  const where = port === undefined ? host : `${host}:${port}`;
  return `${where.replace(/^\//, '')}${asText(server['path']) ?? ''}`;
}

function decodeRuntime(value: JsonObject): DumpMcpRuntime {
  const { lastError, programs, server, tools } = value;
  const count = (key: string): number => asNumber(value[key]) ?? 0;
  const message = asText(asObject(lastError)['message']) ?? asText(lastError);
  return {
    state: asText(value['state']) ?? '',
    failingSince: asText(value['failingSince']),
    failingForMs: durationOf(value['failingFor']),
    protocolVersions: textsOf(value['protocolVersions']),
    server: serverText(asObject(server)),
    sessions: count('sessions'),
    calls: count('calls'),
    failures: count('failures'),
    errors: count('errors'),
    lastError: message === undefined ? undefined : { message, at: asText(asObject(lastError)['at']) ?? '' },
    tools: isObject(tools) ? decodeTools(tools) : undefined,
    programs: isObject(programs) ? decodePrograms(programs) : undefined,
  };
}

function serverText({ name, version }: JsonObject): string | undefined {
  const text = [asText(name), asText(version)].filter(Boolean).join(' ');
  return text === '' ? undefined : text;
}

function decodeTools(value: JsonObject): DumpMcpTools {
  const names = textsOf(value['names']);
  return { count: asNumber(value['count']) ?? names.length, more: value['more'] === true, names };
}

function decodePrograms(value: JsonObject): DumpMcpPrograms {
  return {
    running: asNumber(value['running']) ?? 0,
    spare: asNumber(value['spare']) ?? 0,
    restarts: asNumber(value['restarts']) ?? 0,
    retryInMs: durationOf(value['retryIn']),
  };
}

function durationOf(value: unknown): number | undefined {
  return parseDurationMs(asText(value) ?? '');
}
