import { Flags } from '@oclif/core';
import type { Finding } from '../proxy/lint/finding.ts';
import { exitCodes, type ExitCode } from '../src/shared/errors.ts';
import { renderFindings } from '../ui/text/findings.ts';
import { configFlags, configSourceOf } from './_base/config-source.ts';
import { outputFlag } from './_base/flags.ts';
import { GwCommand } from './_base/gw-command.ts';
import { usageError } from './_base/usage-error.ts';
import { renderDocument } from './_base/view.ts';

export default class Lint extends GwCommand {
  static override summary = 'Find what is legal and yet wrong in a configuration file.';
  static override description = [
    'Each finding has a stable code, its line, and the way out. Problems that keep the file from being used are told as `gwctl proxy validate` tells them.',
    'The exit code is 6 when there are findings at or above --threshold. docs/lint.md explains each code.',
  ].join('\n');
  static override flags = {
    ...configFlags,
    threshold: Flags.option({ options: ['info', 'warning', 'error', 'never'] as const })({
      default: 'warning',
      summary: 'From which severity on findings count for the exit code.',
    }),
    ignore: Flags.string({
      multiple: true,
      multipleNonGreedy: true,
      helpValue: '<code>',
      summary: 'Leave out findings of this code; may be repeated.',
    }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    'gwctl lint -f config.yaml',
    { description: 'A check for CI', command: 'gwctl lint -f config.yaml --threshold error -o json' },
  ];

  async run(): Promise<ExitCode> {
    const { flags } = await this.parse(Lint);
    const source = configSourceOf(flags, this.cli);
    if (source === undefined) throw usageError('there is nothing to look at', 'gwctl lint -f config.yaml');
    const { loadConfig } = await import('../src/config/index.ts');
    const { lint } = await import('../proxy/lint/lint.ts');
    const { lintRules } = await import('../proxy/lint/rules.ts');
    const known = lintRules.map(({ code }) => code);
    const unknown = flags.ignore?.find((code) => !known.includes(code));
    if (unknown !== undefined)
      throw usageError(`--ignore: there is no finding ${unknown}`, `one of ${known.join(', ')}`);
    const loaded = await loadConfig(source, { env: this.cli.env });
    const findings = lint(loaded).filter(({ code }) => flags.ignore?.includes(code) !== true);
    await this.out(
      flags.output === 'text'
        ? renderFindings(findings, loaded.shown(), this.paint)
        : await renderDocument(findings, flags.output),
    );
    if (flags.output === 'text' && findings.length === 0) await this.note('nothing found');
    return findings.some((finding) => counts(finding, flags.threshold)) ? exitCodes.findings : exitCodes.ok;
  }
}

const ORDER = ['info', 'warning', 'error', 'never'];

function counts({ severity }: Finding, threshold: string): boolean {
  return ORDER.indexOf(severity) >= ORDER.indexOf(threshold);
}
