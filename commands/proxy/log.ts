import { Flags } from '@oclif/core';
import { liveTargetFlags, outputFlag, resourceArg } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { withClient } from '../_base/target.ts';
import { usageError } from '../_base/usage-error.ts';
import { renderDocument } from '../_base/view.ts';

const LEVELS: readonly string[] = ['off', 'error', 'warn', 'info', 'debug', 'trace'];

export default class ProxyLog extends GwCommand {
  static override summary = 'Show or change what a proxy logs.';
  static override description =
    'Without flags it shows the filter. --level replaces the filter, --set adds the level of one module to it, --reset goes back to what the proxy was started with. Changes last until the proxy restarts.';
  static override args = resourceArg;
  static override flags = {
    ...liveTargetFlags,
    level: Flags.string({ helpValue: LEVELS.join('|'), summary: 'Level of everything.' }),
    set: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
      helpValue: '<module=level>',
      summary: 'Level of one module; may be repeated.',
    }),
    reset: Flags.boolean({ summary: 'Back to the filter of the start.' }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    'gwctl proxy log --local',
    'gwctl proxy log --local --level debug',
    'gwctl proxy log --local --set request=trace',
    'gwctl proxy log --local --reset',
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProxyLog);
    const clauses = [
      ...(flags.level === undefined ? [] : [checkedLevel(flags.level)]),
      ...(flags.set ?? []).map(checkedClause),
    ];
    const change = {
      ...(clauses.length === 0 ? {} : { level: clauses.join(',') }),
      reset: flags.reset || flags.level !== undefined,
    };
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const answer = await withClient({ ...flags, ...args }, surroundings, (client) => client.logging(change));
    const text = answer.trimEnd();
    const filter = text.replace(/^current log level is /, '');
    await this.out(flags.output === 'text' ? `${text}\n` : await renderDocument({ filter }, flags.output));
  }
}

function checkedLevel(text: string): string {
  const level = text.toLowerCase();
  if (!LEVELS.includes(level)) throw usageError(`unknown level "${text}": expected one of ${LEVELS.join(', ')}`);
  return level;
}

function checkedClause(text: string): string {
  const match = /^([^=,\s]+)=([^=,\s]+)$/.exec(text);
  if (match === null)
    throw usageError(
      `invalid --set value "${text}": expected module=level`,
      'gwctl proxy log --local --set request=debug',
    );
  return `${match[1]}=${checkedLevel(match[2] ?? '')}`;
}
