import { modelRows, type ModelRow } from '../../../src/admin/views/models.ts';
import type { Style } from '../../../ui/theme.ts';
import type { Column } from '../../../ui/text/table.ts';
import { dollarsText } from '../../../ui/trace/llm-details.ts';
import { configAliases } from '../../_base/aliases.ts';
import { resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { listingFlags, printListing } from '../../_base/listing.ts';

const spellings = configAliases('models', 'model');

const columns: readonly Column<ModelRow>[] = [
  { title: 'NAME', value: (row) => row.name },
  { title: 'PROVIDER', value: (row) => row.provider },
  { title: 'VISIBILITY', value: (row) => row.visibility },
  { title: 'HEALTH', value: healthText, style: healthStyle },
  { title: 'REQUESTS', value: (row) => countText(row.requests) },
  { title: 'TOKENS', value: (row) => countText(tokensOf(row)) },
  { title: 'COST', value: (row) => (row.cost === null ? '' : dollarsText(row.cost)) },
  { title: 'LATENCY', value: (row) => (row.latencyMs === null ? '' : `${row.latencyMs.toFixed(0)}ms`) },
];

const wide: readonly Column<ModelRow>[] = [
  { title: 'IN', value: (row) => countText(row.inputTokens) },
  { title: 'OUT', value: (row) => countText(row.outputTokens) },
  { title: 'PENDING', value: (row) => countText(row.pending) },
  { title: 'LEADS TO', value: (row) => row.leadsTo.join(', ') },
  { title: 'LAST ERROR', value: (row) => row.lastError ?? '' },
  { title: 'LISTENERS', value: (row) => row.listeners.join(', ') },
];

export default class ConfigModels extends GwCommand {
  static override summary = 'Language models: who serves them, health, requests, tokens, cost and latency.';
  static override description =
    'A virtual model shows how it chooses in place of a provider. What it passes on counts for it and for the model that served. One that fails over asks services of its own: HEALTH then tells how many of them take requests.\nTOKENS and COST count answers of 2xx since the proxy was started; COST needs prices (config.modelCatalog). LATENCY is a moving average of the time to the end of an answer.\n-o wide tells tokens in and out apart and adds what is pending, the models that a virtual one leads to or the name that a provider is asked for, the last error and the listeners.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = listingFlags;
  static override examples = [
    { description: 'Models of the proxy on this machine', command: 'gwctl proxy config models --local' },
    { description: 'The same, kept up to date', command: 'gwctl proxy config models --local --watch --interval 1s' },
    {
      description: 'What has been spent, in a script',
      command: `gwctl config models -o json | jq 'map(select(.virtual | not) | .cost // 0) | add'`,
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigModels);
    const listing = {
      rows: modelRows,
      columns: () => columns,
      wide,
      name: (row: ModelRow) => row.name,
      namesOf: (row: ModelRow) => [row.name],
      emptyNote: 'this proxy has no section `llm`; services of other backends are in `gwctl proxy config backends`',
    };
    await printListing(listing, { ...flags, ...args }, this.printer);
  }
}

function tokensOf({ inputTokens, outputTokens }: ModelRow): number | null {
  return inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens;
}

function countText(count: number | null): string {
  return count === null ? '' : String(count);
}

function healthText({ services, available, health }: ModelRow): string {
  if (services > 1) return `${available} of ${services}`;
  if (services === 1 && available === 0) return 'evicted';
  return health === null ? '' : health.toFixed(2);
}

function healthStyle({ services, available, health }: ModelRow): Style {
  if (services > 0 && available === 0) return 'error';
  if (available < services) return 'warn';
  if ((health ?? 1) < 0.5) return 'error';
  return (health ?? 1) < 0.9 ? 'warn' : 'plain';
}
