import { Errors, type Command } from '@oclif/core';
import { stripVTControlCharacters } from 'node:util';
import { GwError } from '../../src/shared/errors.ts';
import { nearest } from '../../src/shared/nearest.ts';
import { usageError } from './usage-error.ts';

/** Turns what oclif's parser throws into wrong-usage errors in this program's words. */
export function explainParseError(thrown: unknown, command: Command.Loadable, bin: string): unknown {
  const usage = `${bin} ${command.id.replaceAll(':', ' ')}`;
  if (thrown instanceof GwError) return withoutOclifText(thrown);
  if (!(thrown instanceof Errors.CLIError)) return thrown;
  const flags = listOf(thrown, 'flags');
  if (flags !== undefined) return unknownFlag(flags, command, usage);
  const args = listOf(thrown, 'args');
  if (args !== undefined && 'showHelp' in thrown) return unexpectedWords(args, thrown, { usage, command });
  return usageError(cleanMessage(thrown.message), `${usage} -h`);
}

function unknownFlag(flags: readonly unknown[], command: Command.Loadable, usage: string): GwError {
  const typed = String(flags[0]).replace(/=.*$/s, '');
  const similar = nearest(typed, flagNames(command));
  return usageError(`unknown flag ${typed}`, similar === undefined ? `${usage} -h` : `${usage} ${similar}`);
}

function unexpectedWords(
  args: readonly unknown[],
  thrown: Errors.CLIError,
  { usage, command }: { readonly usage: string; readonly command: Command.Loadable },
): GwError {
  // Missing arguments come as objects, unexpected ones as texts.
  if (typeof args[0] !== 'string') return usageError(cleanMessage(thrown.message), `${usage} -h`);
  const message = `unexpected argument ${args.map((arg) => `"${String(arg)}"`).join(' ')}`;
  // A configuration is named with a flag, which a newcomer does not expect.
  const isFile = command.flags['file']?.char === 'f' && /\.(ya?ml|json)$/.test(args[0]);
  return usageError(message, isFile ? `${usage} -f ${args[0]}` : `${usage} -h`);
}

/** Every spelling of every flag of the command, with dashes. */
function flagNames(command: Pick<Command.Loadable, 'flags'>): readonly string[] {
  return Object.values(command.flags).flatMap((flag) => [
    `--${flag.name}`,
    ...(flag.aliases ?? []).map((alias) => `--${alias}`),
    ...(flag.char === undefined ? [] : [`-${flag.char}`]),
  ]);
}

function listOf(thrown: object, key: string): readonly unknown[] | undefined {
  // A field of oclif's error subclasses, which its types do not export.
  const found = (thrown as Record<string, unknown>)[key];
  return Array.isArray(found) && found.length > 0 ? found : undefined;
}

/** oclif rewrites the messages of errors thrown while a flag is read. */
function withoutOclifText(error: GwError): GwError {
  if (error.message.startsWith('Parsing --')) error.message = cleanMessage(error.message);
  return error;
}

function cleanMessage(message: string): string {
  const text = stripVTControlCharacters(message)
    .replace(/\nSee more help with --help/g, '')
    .replace(/^Parsing --\S+\s+/, '')
    .replace(/^The following errors? occurred:\s*/, '')
    .replace(/\n+Note: --[\s\S]* allows? multiple values\.[\s\S]*$/, '')
    .trim();
  return text.charAt(0).toLowerCase() + text.slice(1);
}
