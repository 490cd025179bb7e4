import { setImmediate } from 'node:timers/promises';
import { render } from 'ink';
import type { ReactElement } from 'react';
import { GwError } from '../../src/shared/errors.ts';
import type { KeyPress } from './keys.ts';
import { Screen, type TerminalControl } from './Screen.tsx';
import type { Store } from './store.ts';

export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  /** Ends the screen as if its owner had called `exit`: SIGTERM, which no key tells of. */
  readonly signal?: AbortSignal | undefined;
}

export interface ScreenOptions<T> extends Terminal {
  readonly store: Store<T>;
  readonly draw: (state: T) => ReactElement;
  readonly onKey: (key: KeyPress) => void;
  readonly onReady: (control: TerminalControl) => void;
  readonly onResize: (columns: number, rows: number) => void;
}

/**
 * Shows a screen until its owner calls `exit` or `signal` aborts; the terminal is then as it was before, also when drawing throws (the
 * promise rejects) and when a signal ends the process.
 */
export async function runScreen<T>(options: ScreenOptions<T>): Promise<void> {
  const { stdin, stdout, signal } = options;
  requireTerminal(options);
  let control: TerminalControl | undefined;
  const stop = (): void => control?.exit();
  const ready = (made: TerminalControl): void => {
    control = made;
    options.onReady(made);
    if (signal?.aborted === true) stop();
  };
  signal?.addEventListener('abort', stop);
  const resized = (): void => options.onResize(stdout.columns, stdout.rows);
  /* Before Ink's own listener, so that the frame it draws on a resize already has the new size. */
  stdout.on('resize', resized);
  try {
    const element = <Screen store={options.store} draw={options.draw} onKey={options.onKey} onReady={ready} />;
    const instance = render(element, {
      stdin,
      stdout,
      exitOnCtrlC: false,
      alternateScreen: true,
      incrementalRendering: true,
      interactive: true,
    });
    await instance.waitUntilExit();
  } finally {
    signal?.removeEventListener('abort', stop);
    stdout.off('resize', resized);
    stdin.pause();
  }
}

/** Stops the process as the shell's ctrl-z would, with the terminal in its normal state; `fg` brings the screen back. */
export async function suspendProcess(control: TerminalControl): Promise<void> {
  await control.suspend(async () => {
    /* The whole foreground job, as the terminal driver does. Where job control is off the signal does nothing. */
    process.kill(0, 'SIGTSTP');
    await setImmediate();
  });
}

function requireTerminal({ stdin, stdout }: Terminal): void {
  if (stdout.isTTY && stdin.isTTY && typeof stdin.setRawMode === 'function') return;
  throw new GwError('a screen needs a terminal for its input and its output', {
    code: 'GW_NOT_A_TERMINAL',
    hint: 'gwctl proxy trace --raw',
  });
}
