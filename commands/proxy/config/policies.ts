import { Flags } from '@oclif/core';
import {
  effectivePolicyRows,
  type EffectivePolicyRow,
  policyRows,
  type PolicyRow,
} from '../../../src/admin/views/policies.ts';
import { effectivePolicyColumns, policyColumns } from '../../_base/columns.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';
import type { Column } from '../../../ui/text/table.ts';

const spellings = configAliases('policies', 'policy', 'po');

const wide: readonly Column<PolicyRow>[] = [{ title: 'KEY', value: (row) => row.key }];

export default class ConfigPolicies extends GwCommand {
  static override summary = 'Policies and what they attach to, or what holds where.';
  static override description =
    'Lists what is written, and where. With --effective what comes of it: for each listener, route and backend the policies that hold there, once those of all levels are put together, and the resource that each comes from. --name takes the name of a policy, or with --effective also that of a route, a listener or a resource.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = {
    ...listingFlags,
    effective: Flags.boolean({ summary: 'Show which policies hold at each listener, route and backend, and why.' }),
  };
  static override examples = [
    'gwctl proxy config policies --local',
    { description: 'What holds for one route', command: 'gwctl config policies --local --effective --name cart' },
    'gwctl config policies --file dump.json -o json',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigPolicies);
    const choice = { ...flags, ...args };
    if (flags.effective) return printListing(effective, choice, this.printer);
    const listing = {
      rows: policyRows,
      columns: () => policyColumns,
      wide,
      name: (row: PolicyRow) => `policy/${row.key || `${row.policy} ${row.target}`}`,
      namesOf: (row: PolicyRow) => [row.policy, row.name, `${row.namespace}/${row.name}`, row.key],
    };
    return printListing(listing, choice, this.printer);
  }
}

const effective = {
  rows: effectivePolicyRows,
  columns: () => effectivePolicyColumns,
  wide: [{ title: 'VIA', value: (row: EffectivePolicyRow) => row.via.join(' > ') }],
  name: (row: EffectivePolicyRow) => `policy/${row.policy} ${row.at}`,
  namesOf: ({ at, policy, from, route }: EffectivePolicyRow) => [
    policy,
    ...[at, from, route].flatMap((text) =>
      text.split(/, | /).flatMap((word) => [word, word.split('/').at(-1) ?? word]),
    ),
  ],
  emptyNote: 'no policies hold anywhere, or this proxy does not tell',
};
