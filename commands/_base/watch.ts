import { Flags } from '@oclif/core';
import { setTimeout as pause } from 'node:timers/promises';
import { exitCodes, GwError, messageOf } from '../../src/shared/errors.ts';
import { RedrawnText } from '../../ui/text/redraw.ts';
import { write } from './cli.ts';
import { durationFlag } from './flags.ts';
import type { Printer } from './gw-command.ts';
import type { Tell } from './target.ts';
import { usageError } from './usage-error.ts';

const DEFAULT_INTERVAL_MS = 2000;

/** On commands whose answer can be watched. */
export const watchFlags = {
  watch: Flags.boolean({
    char: 'w',
    summary: 'Keep looking, until Ctrl-C.',
    description: 'A terminal is drawn anew in place; elsewhere another answer is printed whenever it changed.',
  }),
  interval: durationFlag({ dependsOn: ['watch'], summary: 'How often to look with --watch. The default is 2s.' }),
};

export interface WatchChoice {
  readonly watch: boolean;
  readonly interval?: number | undefined;
  readonly file?: string | undefined;
}

/** One answer, and what is said beside it. */
export interface Shown {
  readonly text: string;
  readonly note?: string | undefined;
}

/** Makes the answer; `tell` says which target was taken. */
export type Render = (tell: Tell) => Promise<Shown>;

/** Prints the answer once, or again and again until the process is interrupted. */
export async function present(render: Render, choice: WatchChoice, printer: Printer): Promise<void> {
  if (choice.watch && choice.file !== undefined) throw usageError('--watch needs a running proxy, not a file');
  const first = await render(printer.note);
  const display = choice.watch && onTerminal(printer) ? redrawn(printer) : appended(printer);
  await display.show(first);
  if (!choice.watch) return;
  for (;;) {
    await pause(choice.interval ?? DEFAULT_INTERVAL_MS, undefined, { signal: printer.cli.signal });
    try {
      await display.show(await render(async () => {}));
    } catch (error) {
      if (!isOutage(error)) throw error;
      await display.outage(`${messageOf(error)}; still trying`);
    }
  }
}

interface Display {
  show(shown: Shown): Promise<void>;
  /** The target does not answer at the moment. */
  outage(reason: string): Promise<void>;
}

/** A proxy that restarts is worth waiting for, once it has answered. */
function isOutage(error: unknown): boolean {
  return error instanceof GwError && (error.exitCode === exitCodes.unreachable || error.exitCode === exitCodes.timeout);
}

function onTerminal({ cli }: Printer): boolean {
  return cli.stdout.isTTY === true && cli.env['TERM'] !== 'dumb';
}

function redrawn({ cli, paint, quiet }: Printer): Display {
  const drawn = new RedrawnText(cli.stdout, (text) => write(cli.stdout, text));
  let last = '';
  return {
    show: ({ text, note }) => {
      last = text;
      return drawn.show(note === undefined || quiet ? text : `${text}${paint('dim', note)}\n`);
    },
    outage: (reason) => drawn.show(`${last}${paint('error', reason)}\n`),
  };
}

/** Prints what differs from what was printed last. */
function appended({ out, note: tell }: Printer): Display {
  let printed: Shown | undefined;
  let told: string | undefined;
  const tellOnce = async (note: string | undefined): Promise<void> => {
    if (note !== undefined && note !== told) await tell(note);
    told = note;
  };
  return {
    show: async (shown) => {
      if (shown.text !== printed?.text) await out(shown.text);
      printed = shown;
      await tellOnce(shown.note);
    },
    outage: tellOnce,
  };
}
