import { Args, Flags } from '@oclif/core';
import { countFlag } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';

const DEFAULT_WIDTH = 100;

export default class ProfileView extends GwCommand {
  static override summary = 'A flame graph of a profile, and its costliest functions, in the terminal.';
  static override description = 'Reads pprof files of this proxy and of any other program, gzipped or not.';
  static override aliases = ['profile:view'];
  static override args = {
    file: Args.string({ ignoreStdin: true, required: true, description: 'The profile; - is stdin.' }),
  };
  static override flags = {
    top: countFlag({ min: 0, max: 1000, default: 10, summary: 'How many functions to list.' }),
    height: countFlag({ max: 1000, default: 40, summary: 'Most lines of the flame graph.' }),
    width: countFlag({ min: 20, max: 1000, summary: "Columns; the default is the terminal's." }),
    focus: Flags.string({ helpValue: '<name>', summary: 'Only calls of functions with this in their name.' }),
  };
  static override examples = ['gwctl profile view cpu.pb.gz', 'gwctl profile view heap.pb.gz --focus parse --top 20'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfileView);
    const { readProfileFile, renderTop } = await import('../../_base/profile.ts');
    const { renderFlame } = await import('../../../src/profile/render-flame.ts');
    const profile = await readProfileFile(args.file, this.cli);
    const { paint, columns } = this;
    const width = flags.width ?? columns ?? DEFAULT_WIDTH;
    const color = paint('error', 'x') !== 'x';
    const flame = renderFlame(profile, { width, height: flags.height, color, focus: flags.focus });
    const top = flags.top === 0 ? '' : `\n${renderTop(profile, { count: flags.top, paint, columns })}`;
    await this.out(`${flame.join('\n')}\n${top}`);
  }
}
