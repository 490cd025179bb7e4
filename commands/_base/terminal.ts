import type { Cli } from './cli.ts';
import { usageError } from './usage-error.ts';

/** The terminal that a screen needs; refuses when there is none. */
export function terminalOf(cli: Cli): {
  readonly env: Cli['env'];
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly signal: AbortSignal;
} {
  const { stdin, stdout, env, signal } = cli;
  if (stdin.isTTY !== true || stdout.isTTY !== true) throw usageError('this screen needs a terminal');
  // Both were just found to be terminals.
  return { env, stdin: stdin as unknown as NodeJS.ReadStream, stdout: stdout as unknown as NodeJS.WriteStream, signal };
}
