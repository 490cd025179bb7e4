import { listenerRows, type ListenerRow } from '../../../src/admin/views/listeners.ts';
import { listenerColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';
import type { Column } from '../../../ui/text/table.ts';

const spellings = configAliases('listeners', 'listener', 'l');

const wide: readonly Column<ListenerRow>[] = [
  { title: 'BIND', value: (row) => row.bind },
  { title: 'TUNNEL', value: (row) => row.tunnelProtocol },
  { title: 'MODE', value: (row) => row.mode },
];

export default class ConfigListeners extends GwCommand {
  static override summary = 'Listeners and the addresses they share.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = listingFlags;
  static override examples = [
    'gwctl proxy config listeners --local',
    'gwctl config listeners --file dump.json -o wide',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigListeners);
    const listing = {
      rows: listenerRows,
      columns: () => listenerColumns,
      wide,
      name: (row: ListenerRow) => `listener/${row.listener || row.bind}`,
      namesOf: (row: ListenerRow) => [row.listener, row.key, row.bind, row.gateway, row.hostname],
    };
    await printListing(listing, { ...flags, ...args }, this.printer);
  }
}
