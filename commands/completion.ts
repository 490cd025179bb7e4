import { Args } from '@oclif/core';
import { completionCommands, completionScript, shells, type Shell } from './_base/completion.ts';
import { GwCommand } from './_base/gw-command.ts';
import { usageError } from './_base/usage-error.ts';

export default class Completion extends GwCommand {
  static override summary = 'A completion script for bash, zsh or fish.';
  static override description =
    'The script holds every command and flag itself, so that completing a word starts no process.\nbash: source <(gwctl completion bash)\nzsh:  source <(gwctl completion zsh)\nfish: gwctl completion fish | source';
  static override args = {
    shell: Args.string({ ignoreStdin: true, description: 'bash, zsh or fish.' }),
  };
  static override examples = [
    'source <(gwctl completion bash)',
    'gwctl completion fish > ~/.config/fish/completions/gwctl.fish',
  ];

  async run(): Promise<void> {
    const { args } = await this.parse(Completion);
    const shell = shells.find((each) => each === args.shell);
    if (shell === undefined) throw unknownShell(args.shell);
    // Aliases come with their command's entry, and would otherwise be listed as commands of their own.
    const own = this.config.commands.filter(
      (command) => ![...command.aliases, ...command.hiddenAliases].includes(command.id),
    );
    await this.out(completionScript(shell satisfies Shell, this.config.bin, completionCommands(own)));
  }
}

function unknownShell(given: string | undefined): Error {
  const what = given === undefined ? 'the shell is missing' : `unknown shell "${given}"`;
  return usageError(`${what}: expected one of ${shells.join(', ')}`, 'gwctl completion bash');
}
