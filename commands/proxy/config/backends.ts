import { Flags } from '@oclif/core';
import type { Dump } from '../../../src/admin/protocol/decode-config-dump.ts';
import { shownBackendName } from '../../../src/admin/views/backend-names.ts';
import { backendRows, type BackendRow } from '../../../src/admin/views/backends.ts';
import type { Style } from '../../../ui/theme.ts';
import type { Column } from '../../../ui/text/table.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';

const spellings = configAliases('backends', 'backend', 'be', 'b');

/** The specification's columns. */
const columnsOf = (rows: readonly BackendRow[]): readonly Column<BackendRow>[] => [
  { title: 'TYPE', value: (row) => row.type },
  { title: 'NAME', value: shownBackendName(rows) },
  { title: 'NAMESPACE', value: (row) => row.namespace },
  { title: 'ENDPOINT', value: (row) => row.endpoint },
  { title: 'HEALTH', value: healthText, style: healthStyle },
  { title: 'REQUESTS', value: (row) => String(row.requests) },
  { title: 'LATENCY', value: (row) => (row.requests === 0 ? '' : `${row.latencyMs.toFixed(2)}ms`) },
];

const wide: readonly Column<BackendRow>[] = [
  { title: 'PRIORITY', value: (row) => String(row.priority) },
  { title: 'PENDING', value: (row) => String(row.pending) },
  { title: 'FAILURES', value: (row) => String(row.failures) },
  { title: 'EJECTIONS', value: (row) => String(row.ejections) },
  { title: 'LAST ERROR', value: (row) => row.lastError ?? '' },
];

export default class ConfigBackends extends GwCommand {
  static override summary = 'Endpoints of the backends: health, requests and latency.';
  static override description =
    'HEALTH is a moving average of outcomes from 0 to 1 (one failure gives 0.70), or the time left of an eviction. LATENCY is a moving average of the time to an answer of the calls that succeeded, not a mean of all.\n-o wide adds what is pending now, FAILURES in a row, EJECTIONS (evictions since the last success) and the last error with its time.\nEndpoints without requests are left out unless --all is given.\nA backend that a route holds itself is named after the route in the table, such as `shop/backend0`; -o json has its whole key.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = {
    ...listingFlags,
    all: Flags.boolean({ summary: 'Also endpoints that had no request.' }),
  };
  static override examples = [
    { description: 'Endpoints of the proxy on this machine', command: 'gwctl proxy config backends --local' },
    { description: 'The same, kept up to date', command: 'gwctl proxy config backends --local --watch --interval 1s' },
    {
      description: 'Names of what is not healthy, in a script',
      command: `gwctl config backends --all -o json | jq '.[] | select(.health < 0.5) | .endpoint'`,
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigBackends);
    const listing = {
      rows: (dump: Dump) => backendRows(dump, flags.all),
      columns: columnsOf,
      wide,
      name: (row: BackendRow) => `${row.type.toLowerCase()}/${row.name}/${row.endpoint}`,
      namesOf: (row: BackendRow) => [row.name, `${row.namespace}/${row.name}`, row.endpoint],
      emptyNote: flags.all ? undefined : 'no endpoint to show has had a request yet; --all shows those too',
    };
    await printListing(listing, { ...flags, ...args }, this.printer);
  }
}

function healthText(row: BackendRow): string {
  if (row.evicted) return row.evictedForMs === null ? 'evicted' : `Evict (${(row.evictedForMs / 1000).toFixed(1)}s)`;
  return row.health === null ? '' : row.health.toFixed(2);
}

function healthStyle(row: BackendRow): Style {
  if (row.evicted || (row.health ?? 1) < 0.5) return 'error';
  return (row.health ?? 1) < 0.9 ? 'warn' : 'plain';
}
