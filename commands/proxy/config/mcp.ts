import { Flags } from '@oclif/core';
import { shownBackendName } from '../../../src/admin/views/backend-names.ts';
import { mcpRows, type McpRow, mcpToolRows, type McpToolRow } from '../../../src/admin/views/mcp.ts';
import type { Style } from '../../../ui/theme.ts';
import type { Column } from '../../../ui/text/table.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { type Listing, listingFlags, printListing } from '../../_base/listing.ts';

const spellings = configAliases('mcp');

const columnsOf = (rows: readonly McpRow[]): readonly Column<McpRow>[] => [
  { title: 'NAME', value: shownBackendName(rows) },
  { title: 'TARGET', value: (row) => row.target },
  { title: 'TRANSPORT', value: (row) => row.transport },
  { title: 'VERSION', value: (row) => row.protocolVersions[0] ?? '' },
  { title: 'STATE', value: stateText, style: stateStyle },
  { title: 'SESSIONS', value: (row) => countText(row.sessions) },
  { title: 'TOOLS', value: (row) => `${countText(row.tools)}${row.moreTools ? '+' : ''}` },
  { title: 'CALLS', value: callsText, style: callsStyle },
];

const wide: readonly Column<McpRow>[] = [
  { title: 'ERRORS', value: (row) => countText(row.errors) },
  { title: 'PROGRAMS', value: programsText },
  { title: 'SERVER', value: (row) => row.server ?? '' },
  { title: 'ADDRESS', value: (row) => row.address },
  { title: 'BACKEND', value: backendText },
  { title: 'LAST ERROR', value: lastErrorText },
];

const toolColumns = (rows: readonly McpToolRow[]): readonly Column<McpToolRow>[] => [
  { title: 'BACKEND', value: shownBackendName(rows) },
  { title: 'TOOL', value: (row) => row.tool },
  { title: 'TARGET', value: (row) => row.target },
];

const servers: Listing<McpRow> = {
  rows: mcpRows,
  columns: columnsOf,
  wide,
  name: (row) => `${bare(row.name)}/${row.target}`,
  namesOf,
  emptyNote: 'this proxy has no backend of MCP servers: a section `mcp` would be one',
};

const tools: Listing<McpToolRow> = {
  rows: mcpToolRows,
  columns: toolColumns,
  name: (row) => row.tool,
  namesOf: (row) => [row.tool, ...namesOf(row)],
  emptyNote: 'no client has asked for a list of tools yet: gwctl mcp tools asks for one',
};

export default class ConfigMcp extends GwCommand {
  static override summary = 'MCP servers: transport, protocol version, state, sessions, tools and calls.';
  static override description =
    'One line for each target of a backend. VERSION is the protocol version that a conversation with it has agreed on last; where none was begun here, the one that a session of another replica goes on in. STATE is that of the last call: ok, failing with the time since the first failure, evicted with the time left, or not asked; of a program that ends before it answers also when it may be started again.\nSESSIONS are those of clients that are open in all threads and have one of the target. TOOLS are those that it listed last, with + where there are pages that nobody has asked for. CALLS counts requests since the proxy was started, and in brackets those that had no answer or a failure of HTTP.\n-o wide adds ERRORS (calls that were answered with an error of JSON-RPC), programs that run, those that wait for a conversation (spare) and restarts, what the server calls itself, its address or command, the sessions and modes of the backend, and the last error with its time.\n--tools lists the tools by the names that clients use, as the servers listed them: what rules of mcpAuthorization hide from some clients or from all stands there too.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = {
    ...listingFlags,
    tools: Flags.boolean({ summary: 'List the tools of the servers instead, as far as they have been listed.' }),
  };
  static override examples = [
    { description: 'MCP servers of the proxy on this machine', command: 'gwctl proxy config mcp --local' },
    { description: 'The same, kept up to date', command: 'gwctl proxy config mcp --local --watch --interval 1s' },
    { description: 'Tools of one server', command: 'gwctl proxy config mcp --local --tools --name everything' },
    {
      description: 'What fails, in a script',
      command: `gwctl config mcp -o json | jq '.[] | select(.state == "failing") | {target, lastError}'`,
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigMcp);
    const choice = { ...flags, ...args };
    await (flags.tools ? printListing(tools, choice, this.printer) : printListing(servers, choice, this.printer));
  }
}

function namesOf({ name, namespace, target }: Pick<McpRow, 'name' | 'namespace' | 'target'>): readonly string[] {
  const own = bare(name);
  return [target, name, own, `${namespace}/${own}`, `${own}/${target}`];
}

/** Without the slash that would stand behind a namespace. */
function bare(name: string): string {
  return name.replace(/^\//, '');
}

function countText(count: number | null): string {
  return count === null ? '' : String(count);
}

function stateText({ state, failingForMs, evictedForMs, retryInMs }: McpRow): string {
  switch (state) {
    case 'evicted':
      return evictedForMs === null ? 'evicted' : `evicted (${shortTime(evictedForMs)})`;
    case 'failing': {
      const since = failingForMs === null ? 'failing' : `failing ${shortTime(failingForMs)}`;
      return retryInMs === null ? since : `${since}, retry in ${shortTime(retryInMs)}`;
    }
    case 'notAsked':
      return 'not asked';
    default:
      return state ?? '';
  }
}

function stateStyle({ state }: McpRow): Style {
  if (state === 'failing' || state === 'evicted') return 'error';
  return state === 'ok' ? 'success' : 'dim';
}

function callsText({ calls, failures }: McpRow): string {
  return failures === null || failures === 0 ? countText(calls) : `${countText(calls)} (${failures} failed)`;
}

function callsStyle({ calls, failures }: McpRow): Style {
  return failures !== null && failures > 0 && failures * 2 >= (calls ?? 0) ? 'warn' : 'plain';
}

function programsText({ programs, sparePrograms, restarts }: McpRow): string {
  if (programs === null) return '';
  const spare = sparePrograms === null || sparePrograms === 0 ? '' : ` + ${sparePrograms} spare`;
  return restarts === null || restarts === 0 ? `${programs}${spare}` : `${programs}${spare} (${restarts} restarted)`;
}

function backendText({ backendSessions, stateful, prefixMode, failureMode }: McpRow): string {
  const sessions =
    backendSessions === null ? [] : [`${backendSessions} ${backendSessions === 1 ? 'session' : 'sessions'}`];
  const modes = [
    ...(stateful === false ? ['stateless'] : sessions),
    ...(prefixMode === null ? [] : [`prefix ${prefixMode}`]),
    ...(failureMode === null ? [] : [failureMode]),
  ];
  return modes.join(', ');
}

function lastErrorText({ lastError, lastErrorAt }: McpRow): string {
  return lastError === null ? '' : [lastError, lastErrorAt].filter(Boolean).join(' at ');
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1000, 's'],
] as const;

/** The largest unit alone: `3m`, `12s`, `250ms`. */
function shortTime(ms: number): string {
  const unit = UNITS.find(([size]) => ms >= size);
  return unit === undefined ? `${Math.round(ms)}ms` : `${Math.floor(ms / unit[0])}${unit[1]}`;
}
