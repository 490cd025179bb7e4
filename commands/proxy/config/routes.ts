import { routeRows, type RouteRow } from '../../../src/admin/views/routes.ts';
import { routeColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { outputFlag, resourceArg, targetFlags, viewFormats } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { loadDump } from '../../_base/target.ts';
import { renderView } from '../../_base/view.ts';
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
  static override flags = { ...targetFlags, output: outputFlag(viewFormats, 'table') };
  static override examples = [
    { description: 'Routes of the proxy on this machine', command: 'gwctl proxy config routes --local' },
    {
      description: 'Every path of a saved dump',
      command: `gwctl config routes --file dump.json -o json | jq '.[].matches[]'`,
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigRoutes);
    const dump = await loadDump({ ...flags, ...args }, { cli: this.cli, tell: (text) => this.note(text) });
    const view = { rows: routeRows(dump), columns: routeColumns, wide, name: (row: RouteRow) => `route/${row.key}` };
    await this.out(await renderView(view, { format: flags.output, width: this.columns, paint: this.paint }));
  }
}
