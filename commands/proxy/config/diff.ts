import { Flags } from '@oclif/core';
import { asText } from '../../../src/admin/protocol/lenient.ts';
import { dumpDifferences } from '../../../src/admin/views/dump-difference.ts';
import { exitCodes, type ExitCode } from '../../../src/shared/errors.ts';
import { renderDifferences } from '../../../ui/text/difference.ts';
import { configAliases } from '../../_base/aliases.ts';
import { readSides, type Side } from '../../_base/diff-sides.ts';
import { liveTargetFlags, outputFlag, resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';
import { renderDocument } from '../../_base/view.ts';

const spellings = configAliases('diff');

export default class ConfigDiff extends GwCommand {
  static override summary = 'What differs between two configurations: dumps, running proxies, configuration files.';
  static override description = [
    'Each side is a saved dump, a running proxy or a configuration file. --file or a proxy is the first side, --with the second; with --file alone a proxy is the second. A configuration file that is compared with a dump or a proxy counts as what would be new.',
    '+ is what the second side has more, - what it lacks, ~ what has another value, by listener, route, backend, policy and key. Not compared: the state of endpoints, ports that the system chose, version and revision, the order inside a dump, settings under `config` that a configuration file does not name, and values that dumps redact.',
    'The exit code is 0 when nothing differs and 6 when something does.',
  ].join('\n');
  static override aliases = spellings.shown;
  static override hiddenAliases = spellings.hidden;
  static override args = resourceArg;
  static override flags = {
    ...liveTargetFlags,
    file: Flags.string({
      char: 'f',
      helpGroup: 'TARGET',
      helpValue: '<path>',
      summary: 'A saved dump or a configuration file; - is stdin.',
    }),
    with: Flags.string({
      helpGroup: 'TARGET',
      helpValue: '<path|host:port|local>',
      summary: 'The second side: a file as for --file, the admin address of a proxy, or local.',
    }),
    output: outputFlag(['text', 'json', 'yaml'] as const, 'text'),
  };
  static override examples = [
    { description: 'What a file would change', command: 'gwctl proxy config diff -f config.yaml --local' },
    { description: 'What changed since a dump was saved', command: 'gwctl config diff -f before.json --with local' },
    { description: 'Two proxies', command: 'gwctl config diff --address 10.0.0.7:15000 --with 10.0.0.8:15000' },
  ];

  async run(): Promise<ExitCode> {
    const { args, flags } = await this.parse(ConfigDiff);
    const surroundings = { cli: this.cli, tell: (text: string) => this.note(text) };
    const [before, after] = await readSides({ ...flags, ...args }, surroundings);
    const differences = dumpDifferences(before.raw, after.raw);
    const sides = { before: before.name, after: after.name };
    await this.out(
      flags.output === 'text'
        ? renderDifferences(differences, sides, this.paint)
        : await renderDocument(differences, flags.output),
    );
    if (differences.length > 0) return exitCodes.findings;
    await this.note(equalNote(before, after));
    return exitCodes.ok;
  }
}

/** Equal dumps may hide what is redacted; the revisions tell. */
function equalNote(before: Side, after: Side): string {
  const [from, to] = [before, after].map(({ raw }) => asText(raw['revision']));
  if (from === undefined || to === undefined || from === to) return 'nothing differs';
  return `nothing that a dump shows differs, but the revisions do (${from}, ${to}): a redacted value, a comment, or where something is written`;
}
