import { Config } from '@oclif/core';
import type { Readable, Writable } from 'node:stream';
import { GwError, systemCodeOf } from '../../src/shared/errors.ts';
import { plainPaint, colourPaint, wantsColour, type Paint } from '../../ui/text/paint.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A stream that may be a terminal. */
export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };
export type InputStream = Readable & { readonly isTTY?: boolean };

/** The process as commands see it, so that nothing below `bin/` reaches for globals. */
export interface Cli {
  readonly env: Environment;
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborted by Ctrl-C, SIGTERM, or a reader of stdout that went away; the reason is the error to end with. */
  readonly signal: AbortSignal;
  /** How this program was started, for commands that are printed to be typed. */
  readonly self: string;
  /** Takes Ctrl-C and SIGTERM over from the default handling; the returned function gives them back. */
  readonly takeSignals: (handler: (signal: NodeJS.Signals) => void) => () => void;
}

/** oclif's configuration with the process beside it, which is how a command gets at it. */
export class CliConfig extends Config {
  readonly cli: Cli;

  constructor(options: ConstructorParameters<typeof Config>[0], cli: Cli) {
    super(options);
    this.cli = cli;
  }
}

export type ColourFlag = 'auto' | 'always' | 'never';

export function paintFor(stream: OutputStream, env: Environment, flag: ColourFlag): Paint {
  return wantsColour({ flag, isTTY: stream.isTTY === true, env }) ? colourPaint : plainPaint;
}

/** Columns of a terminal; undefined for anything else, where nothing is cut. */
export function widthOf(stream: OutputStream): number | undefined {
  return stream.isTTY === true ? (stream.columns ?? 80) : undefined;
}

/**
 * Writes and waits until the text has left, so that nothing is lost when the process ends next. Throws when it cannot be
 * written, as on a full disk; a reader that went away is told of by the stream's error event and is no failure here.
 */
export async function write(stream: Writable, text: string | Uint8Array): Promise<void> {
  if (text.length === 0) return;
  const failure = await new Promise<unknown>((resolve) => {
    try {
      stream.write(text, resolve);
    } catch (error) {
      // Files are written at once, and their stream throws.
      resolve(error);
    }
  });
  const code = systemCodeOf(failure);
  if (failure instanceof Error && code !== 'EPIPE' && code !== 'ERR_STREAM_DESTROYED') {
    throw new GwError(`cannot write the answer: ${failure.message}`, { code: 'GW_WRITE', cause: failure });
  }
}
