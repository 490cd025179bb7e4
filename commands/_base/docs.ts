import type { Command } from '@oclif/core';
import type { CliConfig } from './cli.ts';
import { plainPaint } from '../../ui/text/paint.ts';
import { primaryCommands, renderHelp } from './help.ts';

const WIDTH = 110;

/** docs/cli.md: every command with its full help, made from the commands themselves. */
export function renderDocs(config: CliConfig): string {
  const commands = primaryCommands(config);
  return [
    `# Commands of ${config.bin}`,
    'Made from the commands: `UPDATE_GOLDEN=1 npm test -- test/commands/docs.test.ts` writes this page anew.',
    CONVENTIONS,
    commands.map((command) => `- [\`${nameOf(command)}\`](#${anchorOf(command)}): ${command.summary ?? ''}`).join('\n'),
    ...commands.map((command) => section(command, config)),
  ]
    .map((part) => `${part}\n`)
    .join('\n');
}

const CONVENTIONS = `## What all have in common

- stdout carries the answer and nothing else; what was resolved, progress and warnings go to stderr, unless \`--quiet\` is given. Errors are always printed.
- \`--local\` addresses the proxy on this machine, \`--address\` another one, \`--file\` a saved dump (\`-\` is stdin). Without any of them the proxy on this machine is used, and the command says so.
- \`-o json\` is a contract: it is only ever extended. Nothing found is \`[]\` and exit code 0. Errors are JSON on stderr then, with a stable \`code\`.
- In a pipe there is no colour, no screen, no prompt, and nothing is cut. \`--color\`, \`NO_COLOR\`, \`FORCE_COLOR\` and \`TERM=dumb\` are respected.
- Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 not reachable, 5 refused, 6 findings, 124 timeout, 130 Ctrl-C.`;

function section(command: Command.Loadable, config: CliConfig): string {
  const help = renderHelp({ kind: 'command', command, argv: [], typed: command.id }, config, {
    long: true,
    width: WIDTH,
    paint: plainPaint,
  });
  return `## ${nameOf(command)}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\``;
}

function nameOf(command: Command.Loadable): string {
  return command.id.replaceAll(':', ' ');
}

function anchorOf(command: Command.Loadable): string {
  return command.id.replaceAll(':', '-');
}
