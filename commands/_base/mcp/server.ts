import { Flags } from '@oclif/core';
import { readText } from '../../../src/admin/client/read-file.ts';
import { mcpAddresses } from '../../../src/admin/views/mcp-address.ts';
import type { McpPlace } from '../../../src/mcp/connect.ts';
import type { Cli } from '../cli.ts';
import { durationFlag, liveTargetFlags, portFlag } from '../flags.ts';
import { headerOf, secretOf } from '../headers.ts';
import { placeOf, type PlaceChoice, type Wanted } from '../place.ts';
import type { Tell } from '../target.ts';

const DEFAULT_TIMEOUT_MS = 60_000;
const request = { helpGroup: 'REQUEST' };
const target = { helpGroup: 'TARGET' };

/** Where MCP servers are reached. */
const servers: Wanted = {
  what: 'MCP servers',
  addresses: mcpAddresses,
  path: '/mcp',
  code: 'GW_NO_MCP',
  section: 'mcp',
};

/** Of every command that talks to a server. */
export const serverFlags = {
  token: Flags.string({
    ...request,
    helpValue: '<token>',
    summary: 'Bearer token for the gateway; @path reads it from a file.',
  }),
  header: Flags.string({
    ...request,
    char: 'H',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: '<name: value>',
    summary: 'Further header; may be repeated.',
  }),
  transport: Flags.option({ options: ['streamable', 'sse'] as const })({
    ...request,
    summary: 'How the server is spoken to; sse is the transport of the first protocol version.',
    default: 'streamable' as const,
  }),
  protocol: Flags.option({ options: ['auto', 'legacy'] as const })({
    ...request,
    summary: 'auto asks for the newest version that both speak, legacy opens a session as clients before 2026 do.',
    default: 'auto' as const,
  }),
  ...liveTargetFlags,
  port: portFlag({ ...target, summary: 'Listener port of the target, plain HTTP.' }),
  url: Flags.string({ ...target, helpValue: '<url>', summary: 'Address instead, such as http://host:3000/mcp.' }),
  insecure: Flags.boolean({ ...target, char: 'k', summary: 'Accept any certificate.' }),
  cacert: Flags.string({ ...target, helpValue: '<path>', summary: 'Authorities to trust, PEM.' }),
  timeout: durationFlag({ ...target, summary: 'How long to wait for an answer. Default: 1m.' }),
};

export interface ServerChoice extends PlaceChoice {
  readonly token?: string | undefined;
  readonly header?: readonly string[] | undefined;
  readonly transport: McpPlace['transport'];
  readonly protocol: McpPlace['protocol'];
  readonly insecure: boolean;
  readonly cacert?: string | undefined;
  readonly timeout?: number | undefined;
}

/** What the flags say about the server. */
export async function serverOf(
  flags: ServerChoice,
  { cli, tell, version }: { readonly cli: Cli; readonly tell: Tell; readonly version: string },
): Promise<McpPlace> {
  const { transport, protocol, insecure, cacert, timeout } = flags;
  const headers = (flags.header ?? []).map(headerOf);
  const token = await secretOf('--token', flags.token, cli);
  const ca = cacert === undefined ? undefined : await readText(cacert, cli.stdin);
  return {
    url: await placeOf(flags, servers, { cli, tell }),
    transport,
    protocol,
    headers: token === undefined ? headers : [...headers, ['authorization', `Bearer ${token}`]],
    tls: { insecure, ca },
    timeoutMs: timeout ?? DEFAULT_TIMEOUT_MS,
    signal: cli.signal,
    version,
  };
}
