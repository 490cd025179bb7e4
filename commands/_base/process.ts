import path from 'node:path';
import { InterruptedError } from '../../src/admin/client/errors.ts';
import { systemCodeOf } from '../../src/shared/errors.ts';
import type { Cli } from './cli.ts';
import { ReaderGone, main, type MainOptions } from './main.ts';

/** Exit code of a process that SIGTERM ended, as a shell reports it. */
const TERMINATED = 143;

/** Runs `main` on the real process and exits with its code once everything written has left. */
export async function runProcess(options: MainOptions): Promise<never> {
  const abort = new AbortController();
  const handlers: ((signal: NodeJS.Signals) => void)[] = [];
  let terminated = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    const taken = handlers.at(-1);
    if (taken !== undefined) return taken(signal);
    terminated ||= signal === 'SIGTERM';
    // Somebody who presses Ctrl-C twice does not want to wait for a clean end.
    if (abort.signal.aborted) process.exit(terminated ? TERMINATED : 130);
    abort.abort(new InterruptedError());
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  const onStreamError = (error: Error): void => {
    // Any other failure reaches whoever wrote.
    if (systemCodeOf(error) === 'EPIPE') abort.abort(new ReaderGone());
  };
  // oclif throws what its own listener is told, past everybody who could report it.
  process.stdout.removeAllListeners('error');
  process.stdout.on('error', onStreamError);
  process.stderr.on('error', onStreamError);
  const code = await main(options, cliOf(abort.signal, handlers));
  await Promise.all([drain(process.stdout), drain(process.stderr)]);
  process.exit(terminated && code === 130 ? TERMINATED : code);
}

function cliOf(signal: AbortSignal, handlers: ((signal: NodeJS.Signals) => void)[]): Cli {
  return {
    env: process.env,
    // Getting at stdin opens it, so it is left alone until a command asks.
    get stdin() {
      return process.stdin;
    },
    stdout: process.stdout,
    stderr: process.stderr,
    signal,
    self: spellingOf(process.argv[1]),
    takeSignals: (handler) => {
      handlers.push(handler);
      return () => {
        const at = handlers.lastIndexOf(handler);
        if (at !== -1) handlers.splice(at, 1);
      };
    },
  };
}

/** `gwctl` where it is installed, `node bin/gwctl.js` in a checkout. */
function spellingOf(script: string | undefined): string {
  if (script === undefined || path.basename(script) === 'gwctl') return 'gwctl';
  return `node ${path.relative(process.cwd(), script)}`;
}

async function drain(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.destroyed || stream.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    stream.write('', () => resolve());
  });
}
