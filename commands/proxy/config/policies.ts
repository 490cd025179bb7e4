import { policyRows, type PolicyRow } from '../../../src/admin/views/policies.ts';
import { policyColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';
import type { Column } from '../../../ui/text/table.ts';

const spellings = configAliases('policies', 'policy', 'po');

const wide: readonly Column<PolicyRow>[] = [{ title: 'KEY', value: (row) => row.key }];

export default class ConfigPolicies extends GwCommand {
  static override summary = 'Policies and what they attach to.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = listingFlags;
  static override examples = ['gwctl proxy config policies --local', 'gwctl config policies --file dump.json -o json'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigPolicies);
    const listing = {
      rows: policyRows,
      columns: () => policyColumns,
      wide,
      name: (row: PolicyRow) => `policy/${row.key || `${row.policy} ${row.target}`}`,
      namesOf: (row: PolicyRow) => [row.policy, row.name, `${row.namespace}/${row.name}`, row.key],
    };
    await printListing(listing, { ...flags, ...args }, this.printer);
  }
}
