import { exitCodes } from '../../src/shared/errors.ts';
import { renderTable, type Column } from '../../ui/text/table.ts';
import { GwCommand } from '../_base/gw-command.ts';

interface Meaning {
  readonly code: number;
  readonly meaning: string;
}

const meanings: readonly Meaning[] = [
  { code: exitCodes.ok, meaning: 'done' },
  { code: exitCodes.failed, meaning: 'failed, or an expectation was not met' },
  { code: exitCodes.usage, meaning: 'wrong usage' },
  { code: exitCodes.notFound, meaning: 'the target or the file was not found, or is ambiguous' },
  { code: exitCodes.unreachable, meaning: 'the target cannot be reached, or is no admin interface' },
  { code: exitCodes.refused, meaning: 'the target refused (401, 403)' },
  { code: exitCodes.findings, meaning: 'the check was made and found something' },
  { code: exitCodes.timeout, meaning: 'timeout' },
  { code: exitCodes.interrupted, meaning: 'interrupted by Ctrl-C' },
];

const columns: readonly Column<Meaning>[] = [
  { title: 'CODE', value: (row) => String(row.code) },
  { title: 'MEANING', value: (row) => row.meaning, cut: 'end' },
];

export default class HelpExitCodes extends GwCommand {
  static override summary = 'What the exit codes mean.';

  async run(): Promise<void> {
    await this.parse(HelpExitCodes);
    await this.out(renderTable(columns, meanings, { width: this.columns, paint: this.paint }));
  }
}
