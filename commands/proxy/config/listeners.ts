import { listenerRows, type ListenerRow } from '../../../src/admin/views/listeners.ts';
import { listenerColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { outputFlag, resourceArg, targetFlags, viewFormats } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { loadDump } from '../../_base/target.ts';
import { renderView } from '../../_base/view.ts';
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
  static override flags = { ...targetFlags, output: outputFlag(viewFormats, 'table') };
  static override examples = [
    'gwctl proxy config listeners --local',
    'gwctl config listeners --file dump.json -o wide',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigListeners);
    const dump = await loadDump({ ...flags, ...args }, { cli: this.cli, tell: (text) => this.note(text) });
    const name = (row: ListenerRow): string => `listener/${row.listener || row.bind}`;
    const view = { rows: listenerRows(dump), columns: listenerColumns, wide, name };
    await this.out(await renderView(view, { format: flags.output, width: this.columns, paint: this.paint }));
  }
}
