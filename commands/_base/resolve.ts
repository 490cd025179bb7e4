import type { Command, Config } from '@oclif/core';
import type { GwError } from '../../src/shared/errors.ts';
import { nearest } from '../../src/shared/nearest.ts';
import { usageError } from './usage-error.ts';

/** What the typed words mean. */
export type Resolved =
  | {
      readonly kind: 'command';
      readonly command: Command.Loadable;
      readonly argv: readonly string[];
      readonly typed: string;
    }
  | { readonly kind: 'topic'; readonly id: string }
  | { readonly kind: 'root' };

/** Finds the command whose path the first words spell; throws with the nearest one when there is none. */
export function resolveCommand(argv: readonly string[], config: Config): Resolved {
  const words = leadingWords(argv);
  if (words.length === 0) {
    if (argv.length === 0 || argv.some(isHelpFlag)) return { kind: 'root' };
    throw usageError(`the command comes first, then ${argv[0] ?? 'flags'}`, `${config.bin} --help`);
  }
  for (let count = words.length; count > 0; count -= 1) {
    const typed = words.slice(0, count).join(':');
    const command = config.findCommand(typed);
    if (command !== undefined) return { kind: 'command', command, argv: argv.slice(count), typed };
  }
  const id = words.join(':');
  if (config.findTopic(id) !== undefined) return { kind: 'topic', id };
  throw unknownCommand(words, config);
}

export function isHelpFlag(word: string): boolean {
  return word === '-h' || word === '--help';
}

/** `full` for `--help`, `short` for `-h`, undefined for neither; what stands behind `--` is not ours. */
export function helpWanted(argv: readonly string[]): 'short' | 'full' | undefined {
  const end = argv.indexOf('--');
  const own = end === -1 ? argv : argv.slice(0, end);
  if (own.includes('--help')) return 'full';
  return own.includes('-h') ? 'short' : undefined;
}

function leadingWords(argv: readonly string[]): readonly string[] {
  const end = argv.findIndex((word) => word.startsWith('-') || /[:\s]/.test(word));
  return end === -1 ? argv : argv.slice(0, end);
}

function unknownCommand(words: readonly string[], config: Config): GwError {
  const known = words.findIndex((_, at) => config.findTopic(words.slice(0, at + 1).join(':')) === undefined);
  const at = Math.max(0, known);
  const parents = words.slice(0, at);
  const typed = words[at] ?? '';
  const similar = nearest(typed, childrenOf(parents.join(':'), config)) ?? elsewhere(typed, config);
  const shown = [config.bin, ...parents].join(' ');
  return usageError(
    `unknown command "${typed}"${parents.length === 0 ? '' : ` for "${shown}"`}`,
    similar === undefined ? `${shown} --help` : `${similar.includes(' ') ? `${config.bin} ` : `${shown} `}${similar}`,
  );
}

/** The next words that may follow a topic. */
function childrenOf(topic: string, config: Config): ReadonlySet<string> {
  const prefix = topic === '' ? '' : `${topic}:`;
  const ids = config.commandIDs.filter((id) => id.startsWith(prefix));
  return new Set(ids.flatMap((id) => id.slice(prefix.length).split(':')[0] ?? []));
}

/** A command that ends in the typed word (`backends` is `proxy config backends`). */
function elsewhere(typed: string, config: Config): string | undefined {
  const visible = config.commands.filter((command) => !command.hidden && !command.hiddenAliases.includes(command.id));
  return visible.find((command) => command.id.endsWith(`:${typed}`))?.id.replaceAll(':', ' ');
}
