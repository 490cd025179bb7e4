import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A shell's redirection of its own streams, such as `>/dev/full`. */
  readonly redirect?: string;
}

/** Hundreds of processes strip the types of the same files. */
const cache = process.env['NODE_COMPILE_CACHE'] ?? join(tmpdir(), 'gwctl-test-compile-cache');

const launcher = fileURLToPath(new URL('from-source.ts', import.meta.url));

/** Starts gwctl from its sources with an environment of its own. */
export function startGwctl(words: readonly string[], options: RunOptions = {}): ChildProcessWithoutNullStreams {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: process.env['HOME'] ?? '',
    NODE_COMPILE_CACHE: cache,
    ...options.env,
  };
  const command = [process.execPath, '--no-warnings', launcher, ...words];
  const shell = options.redirect === undefined ? [] : ['sh', '-c', `exec "$@" ${options.redirect}`, 'sh'];
  const [program = '', ...args] = [...shell, ...command];
  return spawn(program, args, { env, cwd: options.cwd ?? process.cwd() });
}

/** Runs gwctl to its end. */
export async function gwctl(words: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = startGwctl(words, options);
  child.stdin.on('error', () => {
    // A command that does not read stdin may end before it is written.
  });
  child.stdin.end(options.input ?? '');
  return finished(child);
}

export async function finished(child: ChildProcessWithoutNullStreams): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  return { code, stdout, stderr };
}
