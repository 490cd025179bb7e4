import { isObject } from '../../src/admin/protocol/lenient.ts';
import { formatBytes } from '../../src/shared/byte-size.ts';
import { renderPairs, type Pair } from '../../ui/text/table.ts';
import { documentFormats, liveTargetFlags, outputFlag, resourceArg } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { withClient } from '../_base/target.ts';
import { renderDocument } from '../_base/view.ts';

export default class ProxyMemory extends GwCommand {
  static override summary = 'Memory of a proxy: allocator, process and control group.';
  static override args = resourceArg;
  static override flags = { ...liveTargetFlags, output: outputFlag(documentFormats, 'table') };
  static override examples = ['gwctl proxy memory --local', 'gwctl proxy memory --local -o json | jq .smaps.rss'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProxyMemory);
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const raw = await withClient({ ...flags, ...args }, surroundings, (client) => client.memory());
    await this.out(
      flags.output === 'table' ? renderPairs(pairsOf(raw, ''), this.paint) : await renderDocument(raw, flags.output),
    );
  }
}

/** Counts of things, in contrast to amounts of bytes. */
const COUNTS = /stacks|objects|allocations|frees|count|pid|number_of/;

function pairsOf(value: unknown, name: string): readonly Pair[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap((item, at) => pairsOf(item, `${name}.${itemName(item) ?? at}`));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, inner]) => pairsOf(inner, name === '' ? key : `${name}.${key}`));
  return [{ name, value: valueText(name, value) }];
}

function itemName(item: unknown): string | undefined {
  return isObject(item) && typeof item['thread'] === 'string' ? item['thread'] : undefined;
}

function valueText(name: string, value: unknown): string {
  if (typeof value !== 'number') return String(value);
  if (name.endsWith('_unix_ms')) return new Date(value).toISOString();
  return COUNTS.test(name) || value < 0 ? String(value) : formatBytes(value);
}
