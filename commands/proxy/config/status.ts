import {
  decodeConfigStatus,
  type ConfigStatus,
  type StatusLine,
  type StatusProblem,
} from '../../../src/admin/views/status.ts';
import { clean } from '../../../ui/terminal/text.ts';
import { renderPairs } from '../../../ui/text/table.ts';
import type { Paint } from '../../../ui/text/paint.ts';
import { configAliases } from '../../_base/aliases.ts';
import { documentFormats, liveTargetFlags, outputFlag, resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { withClient, type Tell } from '../../_base/target.ts';
import { renderDocument } from '../../_base/view.ts';
import { present, watchFlags } from '../../_base/watch.ts';

const spellings = configAliases('status');

export default class ConfigStatusCommand extends GwCommand {
  static override summary = 'What is live since when, what was rejected and why, and the difference.';
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = { ...liveTargetFlags, ...watchFlags, output: outputFlag(documentFormats, 'table') };
  static override examples = [
    'gwctl proxy config status --local',
    'gwctl config status --local --watch',
    'gwctl config status -o json',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ConfigStatusCommand);
    const render = async (tell: Tell) => {
      const surroundings = { cli: this.cli, tell };
      const raw = await withClient({ ...flags, ...args }, surroundings, (client) => client.status());
      if (flags.output === 'table') return { text: statusText(decodeConfigStatus(raw), this.paint) };
      return { text: await renderDocument(raw, flags.output) };
    };
    await present(render, flags, this.printer);
  }
}

function statusText(status: ConfigStatus, paint: Paint): string {
  const { live, rejected, diff, restartNeeded } = status;
  const lines = [
    renderPairs(
      [
        { name: 'live', value: `revision ${live.revision}` },
        { name: 'since', value: live.since },
        { name: 'source', value: live.source },
        {
          name: 'rejected',
          value: rejected === null ? 'nothing' : `revision ${rejected.revision || 'unknown'} at ${rejected.at}`,
        },
      ],
      paint,
    ),
  ];
  if (rejected !== null) lines.push(...rejected.errors.map((problem) => indented(problemText(problem), paint)));
  if (diff.length > 0) {
    lines.push('\ndifference, live to rejected\n');
    lines.push(...diff.map((line) => diffLine(line, paint)));
  }
  if (restartNeeded.length > 0) lines.push(`\nneeds a restart: ${clean(restartNeeded.join(', '))}\n`);
  return lines.join('');
}

function diffLine({ kind, text }: StatusLine, paint: Paint): string {
  const sign = { same: ' ', added: '+', removed: '-' }[kind];
  return `  ${paint(kind === 'same' ? 'plain' : kind, clean(`${sign} ${text}`))}\n`;
}

function problemText({ line, column, path, message }: StatusProblem): string {
  const place = line === undefined ? '' : `line ${line}${column === undefined ? '' : `, column ${column}`}: `;
  return `${place}${path === undefined || path === '' ? '' : `${path}: `}${message}`;
}

/** A message may have several lines: the place, the line of the file, a caret. */
function indented(text: string, paint: Paint): string {
  return text
    .split('\n')
    .map((line) => `  ${paint('error', clean(line))}\n`)
    .join('');
}
