import { Flags } from '@oclif/core';
import { liveTargetFlags, resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';

export default class ProfileHeap extends GwCommand {
  static override summary = 'Where the memory of a proxy was allocated.';
  static override aliases = ['profile:heap'];
  static override args = resourceArg;
  static override flags = {
    ...liveTargetFlags,
    output: Flags.string({ char: 'o', helpValue: '<file>', summary: 'File to write; - is stdout.' }),
  };
  static override examples = ['gwctl proxy profile heap --local', 'gwctl profile heap --local -o heap.pb.gz'];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfileHeap);
    const { takeProfile } = await import('../../_base/profile.ts');
    const run = { kind: 'heap', choice: { ...flags, ...args }, output: flags.output } as const;
    await takeProfile(run, {
      cli: this.cli,
      tell: (text) => this.note(text),
      quiet: this.quiet,
      paint: this.paint,
      columns: this.columns,
    });
  }
}
