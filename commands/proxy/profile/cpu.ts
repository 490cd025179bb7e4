import { Flags } from '@oclif/core';
import { countFlag, liveTargetFlags, resourceArg } from '../../_base/flags.ts';
import { GwCommand } from '../../_base/gw-command.ts';

export default class ProfileCpu extends GwCommand {
  static override summary = 'Sample where a proxy spends processor time (Linux).';
  static override description =
    'The file is gzipped pprof, which the pprof tool and gwctl profile view read. Nothing is written when the run is interrupted or fails.';
  static override aliases = ['profile:cpu'];
  static override args = resourceArg;
  static override flags = {
    ...liveTargetFlags,
    seconds: countFlag({ max: 300, default: 30, helpValue: '<1..300>', summary: 'How long to sample.' }),
    frequency: countFlag({
      max: 1000,
      helpValue: '<1..1000>',
      summary: 'Samples in a second.',
      description: "The default is the proxy's, 100.",
    }),
    output: Flags.string({ char: 'o', helpValue: '<file>', summary: 'File to write; - is stdout.' }),
  };
  static override examples = [
    { description: 'Thirty seconds of the proxy on this machine', command: 'gwctl proxy profile cpu --local' },
    {
      description: 'Ten seconds at 500 Hz into a file',
      command: 'gwctl profile cpu --local --seconds 10 --frequency 500 -o cpu.pb.gz',
    },
  ];

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfileCpu);
    const { takeProfile } = await import('../../_base/profile.ts');
    const run = {
      kind: 'cpu',
      choice: { ...flags, ...args },
      output: flags.output,
      seconds: flags.seconds,
      frequencyHz: flags.frequency,
    } as const;
    await takeProfile(run, {
      cli: this.cli,
      tell: (text) => this.note(text),
      quiet: this.quiet,
      paint: this.paint,
      columns: this.columns,
    });
  }
}
