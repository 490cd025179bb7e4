import type { Dump } from '../../../src/admin/protocol/decode-config-dump.ts';
import { shownBackendName } from '../../../src/admin/views/backend-names.ts';
import { backendRows } from '../../../src/admin/views/backends.ts';
import { listenerRows } from '../../../src/admin/views/listeners.ts';
import { policyRows } from '../../../src/admin/views/policies.ts';
import { routeRows } from '../../../src/admin/views/routes.ts';
import { renderPairs, renderTable, type Column } from '../../../ui/text/table.ts';
import { configAliases } from '../../_base/aliases.ts';
import { listenerColumns, routeColumns } from '../../_base/columns.ts';
import { documentFormats, outputFlag, resourceArg, targetFlags } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { loadDump } from '../../_base/target.ts';
import { renderDocument } from '../../_base/view.ts';

const spellings = configAliases('all');

interface BackendLine {
  readonly kind: string;
  readonly name: string;
  readonly target: string;
  readonly endpoints: string;
  readonly health: string;
}

interface PolicyCount {
  readonly policy: string;
  readonly count: number;
}

const backendColumns: readonly Column<BackendLine>[] = [
  { title: 'KIND', value: (row) => row.kind },
  { title: 'BACKEND', value: (row) => row.name },
  { title: 'TARGET', value: (row) => row.target },
  { title: 'ENDPOINTS', value: (row) => row.endpoints },
  { title: 'LOWEST HEALTH', value: (row) => row.health },
];

const policyCountColumns: readonly Column<PolicyCount>[] = [
  { title: 'POLICY', value: (row) => row.policy },
  { title: 'COUNT', value: (row) => String(row.count), align: 'right' },
];

export default class ConfigAll extends GwCommand {
  static override summary = 'The live configuration: a summary, or the whole dump as JSON or YAML.';
  static override description =
    'The table sums up listeners, routes, backends with their health, and policies. -o json is the dump itself, indented; --file reads it back.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = { ...targetFlags, output: outputFlag(documentFormats, 'table') };
  static override examples = [
    { description: 'Summary of the proxy on this machine', command: 'gwctl proxy config all --local' },
    {
      description: 'Save the dump of another proxy and look at it later',
      command: 'gwctl config all --address 10.0.0.7:15000 -o json > dump.json',
    },
    { description: 'A saved dump as YAML', command: 'gwctl proxy config all --file dump.json -o yaml' },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigAll);
    const dump = await loadDump({ ...flags, ...args }, { cli: this.cli, tell: (text) => this.note(text) });
    await this.out(flags.output === 'table' ? this.#summary(dump) : await renderDocument(dump.raw, flags.output));
  }

  #summary(dump: Dump): string {
    const options = { width: this.columns, paint: this.paint };
    const table = <Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string =>
      rows.length === 0 ? '' : `\n${renderTable(columns, rows, options)}`;
    return [
      renderPairs(facts(dump), this.paint),
      table(listenerColumns, listenerRows(dump)),
      table(routeColumns, routeRows(dump)),
      table(backendColumns, backendLines(dump)),
      table(policyCountColumns, policyCounts(dump)),
    ].join('');
  }
}

function facts(dump: Dump): readonly { readonly name: string; readonly value: string }[] {
  const version = [
    dump.version,
    dump.gitRevision === undefined || dump.gitRevision === '' ? undefined : `(${dump.gitRevision})`,
  ]
    .filter(Boolean)
    .join(' ');
  const counts: readonly (readonly [string, number])[] = [
    ['listeners', listenerRows(dump).length],
    ['routes', routeRows(dump).length],
    ['backends', dump.backends.length],
    ['services', dump.services.length],
    ['workloads', dump.workloads],
    ['policies', policyRows(dump).length],
    ['models', dump.models.length],
  ];
  return [
    ...(version === '' ? [] : [{ name: 'version', value: version }]),
    ...(dump.revision === undefined ? [] : [{ name: 'revision', value: dump.revision }]),
    {
      name: 'holds',
      value:
        counts
          .filter(([, count]) => count > 0)
          .map(([name, count]) => `${count} ${count === 1 ? one(name) : name}`)
          .join(', ') || 'nothing',
    },
  ];
}

function backendLines(dump: Dump): readonly BackendLine[] {
  const rows = backendRows(dump, true);
  const shownName = shownBackendName([...dump.backends, ...dump.services]);
  return [...dump.backends, ...dump.services].map((backend) => {
    const type = backend.kind === 'service' ? 'Service' : 'Backend';
    const own = rows.filter(
      (row) => row.type === type && row.name === backend.name && row.namespace === backend.namespace,
    );
    const healths = own.flatMap((row) => row.health ?? []);
    const evicted = backend.endpoints.filter((endpoint) => endpoint.evicted).length;
    return {
      kind: backend.kind,
      name: [backend.namespace, shownName(backend)].filter(Boolean).join('/'),
      target: backend.target,
      endpoints: `${backend.endpoints.length}${evicted === 0 ? '' : ` (${evicted} evicted)`}`,
      health: healths.length === 0 ? '' : Math.min(...healths).toFixed(2),
    };
  });
}

function policyCounts(dump: Dump): readonly PolicyCount[] {
  const counts = new Map<string, number>();
  for (const { policy } of policyRows(dump)) counts.set(policy, (counts.get(policy) ?? 0) + 1);
  return [...counts]
    .map(([policy, count]) => ({ policy, count }))
    .sort((a, b) => b.count - a.count || (a.policy < b.policy ? -1 : 1));
}

function one(plural: string): string {
  return plural.endsWith('ies') ? `${plural.slice(0, -3)}y` : plural.slice(0, -1);
}
