import { policyRows, type PolicyRow } from '../../../src/admin/views/policies.ts';
import { policyColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { outputFlag, resourceArg, targetFlags, viewFormats } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { loadDump } from '../../_base/target.ts';
import { renderView } from '../../_base/view.ts';
import type { Column } from '../../../ui/text/table.ts';

const spellings = configAliases('policies', 'policy', 'po');

const wide: readonly Column<PolicyRow>[] = [{ title: 'KEY', value: (row) => row.key }];

export default class ConfigPolicies extends GwCommand {
  static override summary = 'Policies and what they attach to.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = { ...targetFlags, output: outputFlag(viewFormats, 'table') };
  static override examples = ['gwctl proxy config policies --local', 'gwctl config policies --file dump.json -o json'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigPolicies);
    const dump = await loadDump({ ...flags, ...args }, { cli: this.cli, tell: (text) => this.note(text) });
    const name = (row: PolicyRow): string => `policy/${row.key || `${row.policy} ${row.target}`}`;
    const view = { rows: policyRows(dump), columns: policyColumns, wide, name };
    await this.out(await renderView(view, { format: flags.output, width: this.columns, paint: this.paint }));
  }
}
