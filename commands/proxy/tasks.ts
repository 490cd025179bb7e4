import { asText, valuesOf } from '../../src/admin/protocol/lenient.ts';
import { liveTargetFlags, outputFlag, resourceArg, viewFormats } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { withClient } from '../_base/target.ts';
import { renderView } from '../_base/view.ts';
import type { Column } from '../../ui/text/table.ts';

interface TaskRow {
  readonly runtime: string;
  readonly task: string;
}

const columns: readonly Column<TaskRow>[] = [
  { title: 'RUNTIME', value: (row) => row.runtime },
  // The first line says what a task is; `-o json` has the rest of a stack.
  { title: 'TASK', value: (row) => row.task.split('\n')[0] ?? '', cut: 'end' },
];

export default class ProxyTasks extends GwCommand {
  static override summary = 'What a proxy is busy with: connections, requests, background tasks.';
  static override args = resourceArg;
  static override flags = { ...liveTargetFlags, output: outputFlag(viewFormats, 'table') };
  static override examples = ['gwctl proxy tasks --local', 'gwctl proxy tasks --local -o json'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProxyTasks);
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const raw = await withClient({ ...flags, ...args }, surroundings, (client) => client.tasks());
    const rows = Object.entries(raw).flatMap(([runtime, tasks]) =>
      valuesOf(tasks).map((task) => ({ runtime, task: asText(task) ?? JSON.stringify(task) })),
    );
    const view = { rows, columns, name: (row: TaskRow) => `${row.runtime}/${row.task.split('\n')[0] ?? ''}` };
    await this.out(await renderView(view, { format: flags.output, width: this.columns, paint: this.paint }));
  }
}
