import { settings, type Command } from '@oclif/core';
import { InterruptedError } from '../../src/admin/client/errors.ts';
import { exitCodes } from '../../src/shared/errors.ts';
import { CliConfig, paintFor, widthOf, write, type Cli, type ColourFlag } from './cli.ts';
import { GwCommand } from './gw-command.ts';
import { explainParseError } from './parse-error.ts';
import { exitCodeOf, renderError, renderErrorJson } from './render-error.ts';
import { helpWanted, isHelpFlag, resolveCommand } from './resolve.ts';

export interface MainOptions {
  /** Words behind the program's name. */
  readonly argv: readonly string[];
  /** Folder of package.json. */
  readonly root: string;
  /** Set to run the TypeScript sources: the text of package.json with the commands' folder put in. */
  readonly packageJson?: ConstructorParameters<typeof CliConfig>[0]['pjson'];
}

/** Runs the command that the words name and gives the exit code; every error has been printed by then. */
export async function main(options: MainOptions, cli: Cli): Promise<number> {
  const { argv } = options;
  try {
    return await dispatch(options, cli);
  } catch (thrown) {
    const error = cli.signal.aborted && !(thrown instanceof InterruptedError) ? (cli.signal.reason ?? thrown) : thrown;
    if (error instanceof ReaderGone) return exitCodes.ok;
    if (error instanceof InterruptedError) return error.exitCode;
    await print(error, argv, cli);
    return exitCodeOf(error);
  }
}

/** The reader of stdout went away (`| head`): there is nobody left to write for, which is no failure. */
export class ReaderGone extends Error {}

async function dispatch({ argv, root, packageJson }: MainOptions, cli: Cli): Promise<number> {
  settings.enableAutoTranspile = false;
  const config = new CliConfig(
    packageJson === undefined ? { root } : { root, pjson: packageJson, ignoreManifest: true },
    cli,
  );
  await config.load();
  const [first, ...others] = argv;
  const asked = first === 'help' && config.findCommand(`help:${others[0] ?? ''}`) === undefined;
  const words = asked ? others.filter((word) => !isHelpFlag(word)) : argv;
  const resolved = resolveCommand(words, config);
  const help = asked ? 'full' : helpWanted(argv);
  if (resolved.kind !== 'command' || help !== undefined) {
    const { renderHelp } = await import('./help.ts');
    const paint = paintFor(cli.stdout, cli.env, colourFlag(argv));
    await write(
      cli.stdout,
      renderHelp(resolved, config, { long: help !== 'short', width: widthOf(cli.stdout) ?? 100, paint }),
    );
    return exitCodes.ok;
  }
  return runCommand(resolved.command, [...resolved.argv], config);
}

async function runCommand(command: Command.Loadable, argv: string[], config: CliConfig): Promise<number> {
  const Class = await command.load();
  // Every command here is one; the abstract constructor of oclif's type cannot be called.
  const instance = new (Class as unknown as new (argv: string[], config: CliConfig) => GwCommand)(argv, config);
  try {
    return (await instance.run()) ?? exitCodes.ok;
  } catch (error) {
    throw explainParseError(error, command, config.bin);
  }
}

async function print(error: unknown, argv: readonly string[], cli: Cli): Promise<void> {
  const paint = paintFor(cli.stderr, cli.env, colourFlag(argv));
  const verbose = ownWords(argv).some((word) => word === '-v' || word === '--verbose');
  const text = wantsJson(argv) ? renderErrorJson(error) : renderError(error, { verbose, paint });
  try {
    await write(cli.stderr, text);
  } catch {
    // Nobody can be told; the exit code still says that something failed.
  }
}

/** Errors may come before the flags were read, so these two look for themselves. */
function wantsJson(argv: readonly string[]): boolean {
  const words = ownWords(argv);
  // There -o is the file that is written.
  if (words.slice(0, 2).includes('profile')) return false;
  return words.some((word, at) => {
    if (/^(-o|--output)$/.test(word)) return /^jsonl?$/.test(words[at + 1] ?? '');
    return /^(-o=?|--output=)jsonl?$/.test(word);
  });
}

function colourFlag(argv: readonly string[]): ColourFlag {
  const words = ownWords(argv);
  const at = words.findIndex((word) => word === '--color' || word.startsWith('--color='));
  const value = words[at]?.split('=')[1] ?? words[at + 1];
  return at !== -1 && (value === 'always' || value === 'never') ? value : 'auto';
}

function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}
