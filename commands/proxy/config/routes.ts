import { routeRows, type RouteRow } from '../../../src/admin/views/routes.ts';
import { routeColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';
import type { Column } from '../../../ui/text/table.ts';

const spellings = configAliases('routes', 'route', 'r');

const wide: readonly Column<RouteRow>[] = [
  { title: 'KIND', value: (row) => row.kind },
  { title: 'NAMESPACE', value: (row) => row.namespace },
  { title: 'RULE', value: (row) => row.rule },
  { title: 'KEY', value: (row) => row.key },
];

export default class ConfigRoutes extends GwCommand {
  static override summary = 'Routes: listener, hostnames, match, backends and policies.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = listingFlags;
  static override examples = [
    { description: 'Routes of the proxy on this machine', command: 'gwctl proxy config routes --local' },
    { description: 'Routes of one host', command: "gwctl config routes --local --name '*.shop.example'" },
    {
      description: 'Every path of a saved dump',
      command: `gwctl config routes --file dump.json -o json | jq '.[].matches[]'`,
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigRoutes);
    const listing = {
      rows: routeRows,
      columns: () => routeColumns,
      wide,
      name: (row: RouteRow) => `route/${row.key}`,
      namesOf: (row: RouteRow) => [row.route, `${row.namespace}/${row.route}`, row.key, ...row.hostnames],
    };
    await printListing(listing, { ...flags, ...args }, this.printer);
  }
}
