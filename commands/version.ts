import { Flags } from '@oclif/core';
import { decodeConfigDump } from '../src/admin/protocol/decode-config-dump.ts';
import { UnreachableError } from '../src/admin/client/errors.ts';
import { renderPairs } from '../ui/text/table.ts';
import { documentFormats, liveTargetFlags, outputFlag, resourceArg } from './_base/flags.ts';
import { GwCommand } from './_base/gw-command.ts';
import { withClient } from './_base/target.ts';
import { renderDocument } from './_base/view.ts';

interface ServerVersion {
  readonly version: string;
  readonly revision: string | null;
}

export default class Version extends GwCommand {
  static override summary = 'Version of gwctl and of the proxy it talks to.';
  static override description =
    'Without a target the proxy on this machine is asked; it is no failure when none answers.';
  static override args = resourceArg;
  static override flags = {
    ...liveTargetFlags,
    client: Flags.boolean({ summary: 'Only gwctl itself; ask no proxy.' }),
    output: outputFlag(documentFormats, 'table'),
  };
  static override examples = [
    'gwctl version',
    'gwctl version --client -o json',
    'gwctl version --address 10.0.0.7:15000',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Version);
    const client = {
      version: this.config.version,
      node: process.versions.node,
      platform: `${process.platform}/${process.arch}`,
    };
    const choice = { ...flags, ...args };
    const server = flags.client ? null : await this.#server(choice, flags.local || flags.address !== undefined);
    const skew = server === null ? null : skewNote(client.version, server.version);
    if (flags.output === 'table') await this.out(renderPairs(pairs(client, server), this.paint));
    else await this.out(await renderDocument({ client, server, skew }, flags.output));
    if (skew !== null) await this.note(skew);
  }

  async #server(choice: Parameters<typeof withClient>[0], asked: boolean): Promise<ServerVersion | null> {
    const timeout = choice.timeout ?? (asked ? undefined : 2000);
    try {
      const surroundings = { cli: this.cli, tell: async () => {} };
      const dump = await withClient({ ...choice, timeout }, surroundings, async (client) =>
        decodeConfigDump(await client.dump()),
      );
      return {
        version: dump.version ?? 'unknown',
        revision: (dump.gitRevision ?? '') === '' ? null : (dump.gitRevision ?? null),
      };
    } catch (error) {
      if (asked || choice.resource !== undefined || !isAbsent(error)) throw error;
      await this.note('no proxy answers on this machine');
      return null;
    }
  }
}

/** Nobody asked for a proxy, so one that is not there, or is something else, is no failure. */
function isAbsent(error: unknown): boolean {
  if (error instanceof UnreachableError) return true;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return (
    code === 'GW_UNREACHABLE' ||
    code === 'GW_ADMIN_PROTOCOL' ||
    code === 'GW_TIMEOUT' ||
    code === 'GW_NOT_A_DUMP' ||
    code === 'GW_NOT_LIVE'
  );
}

function pairs(
  client: { readonly version: string; readonly node: string; readonly platform: string },
  server: ServerVersion | null,
): { name: string; value: string }[] {
  const revision = (server?.revision ?? '') === '' ? '' : ` (${server?.revision})`;
  return [
    { name: 'client', value: `${client.version} (node ${client.node}, ${client.platform})` },
    ...(server === null ? [] : [{ name: 'proxy', value: `${server.version}${revision}` }]),
  ];
}

/** Before 1.0 a minor version may change the protocol, from then on a major one. */
function skewNote(client: string, server: string): string | null {
  const [ours, theirs] = [client, server].map((version) => /^v?(\d+)\.(\d+)/.exec(version));
  if (ours === null || ours === undefined || theirs === null || theirs === undefined) return null;
  const same = ours[1] === theirs[1] && (ours[1] !== '0' || ours[2] === theirs[2]);
  return same ? null : `gwctl ${client} and the proxy ${server} are different versions: some answers may be incomplete`;
}
