import { Flags } from '@oclif/core';
import { GwError } from '../../src/shared/errors.ts';
import { durationFlag, liveTargetFlags, outputFlag, resourceArg } from '../_base/flags.ts';
import { GwCommand } from '../_base/gw-command.ts';
import { withClient } from '../_base/target.ts';
import { usageError } from '../_base/usage-error.ts';
import { renderDocument } from '../_base/view.ts';

const LEVELS: readonly string[] = ['off', 'error', 'warn', 'info', 'debug', 'trace'];

export default class ProxyLog extends GwCommand {
  static override summary = 'Show or change what a proxy logs.';
  static override description =
    'Without flags it shows the filter. --level replaces the filter, --set adds the level of one module to it, --reset goes back to what the proxy was started with. Changes last until the proxy restarts, or as long as --for says: then the proxy goes back by itself to what held before, unless another change came in between.';
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
    for: durationFlag({ summary: 'Only for this long, at most 24h; the proxy goes back by itself.' }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    'gwctl proxy log --local',
    'gwctl proxy log --local --level debug',
    { description: 'Five minutes of everything', command: 'gwctl proxy log --local --level debug --for 5m' },
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
      forMs: flags.for,
    };
    if (change.forMs !== undefined && change.level === undefined && !change.reset)
      throw usageError('--for goes with --level, --set or --reset', 'gwctl proxy log --local --level debug --for 5m');
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const answer = await withClient({ ...flags, ...args }, surroundings, (client) => client.logging(change));
    const text = answer.trimEnd();
    const levels = levelsOf(text);
    await this.out(flags.output === 'text' ? `${text}\n` : await renderDocument(levels, flags.output));
    if (change.forMs !== undefined && levels.back === null) throw staysError();
  }
}

/** The answer's lines: `current log level is info`, and perhaps `back to warn in 5m0s`. */
function levelsOf(text: string): { readonly filter: string; readonly back: { filter: string; in: string } | null } {
  const [first = '', second = ''] = text.split('\n');
  const back = /^back to (.+) in (\S+)$/.exec(second);
  return {
    filter: first.replace(/^current log level is /, ''),
    back: back === null ? null : { filter: back[1] ?? '', in: back[2] ?? '' },
  };
}

/** Proxies that do not know `for` take the change and leave that out. */
function staysError(): GwError {
  return new GwError('the levels are changed, but this proxy does not go back by itself', {
    code: 'GW_NOT_SUPPORTED',
    hint: 'gwctl proxy log --reset, when it is enough',
  });
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
