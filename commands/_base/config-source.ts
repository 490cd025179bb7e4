import { Flags } from '@oclif/core';
import type { ConfigSource } from '../../src/config/index.ts';
import type { Cli } from './cli.ts';
import { usageError } from './usage-error.ts';

/** Where a command that runs or checks a configuration takes it from. */
export const configFlags = {
  file: Flags.string({ char: 'f', helpValue: '<path>', summary: 'Configuration file; - is stdin.' }),
  config: Flags.string({ char: 'c', helpValue: '<text>', summary: 'The configuration itself, as YAML.' }),
};

/** The chosen source; undefined when neither flag is given. */
export function configSourceOf(
  flags: { readonly file?: string | undefined; readonly config?: string | undefined },
  cli: Cli,
): ConfigSource | undefined {
  const { file, config } = flags;
  if (file !== undefined && config !== undefined) throw usageError('only one of --file and --config can be given');
  if (config !== undefined) return { kind: 'text', text: config, name: '<config>' };
  if (file === undefined) return undefined;
  return file === '-' ? { kind: 'stdin', stream: cli.stdin } : { kind: 'file', path: file };
}
