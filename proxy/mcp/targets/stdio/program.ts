import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import { systemCodeOf } from '../../../../src/shared/errors.ts';
import type { Clock } from '../../../exchange/wait.ts';
import type { Command } from './command.ts';
import { LineReader } from './line-reader.ts';
import type { ProgramLog } from './program-log.ts';

/** Long enough for large images in base64. */
export const MAX_LINE_BYTES = 32 * 2 ** 20;
/** What may wait for a program to read. */
const MAX_WAITING_BYTES = 4 * 2 ** 20;
/** For what is in the pipe when the program has exited. */
const LAST_WORDS_MS = 500;

export interface ProgramEvents {
  onLine(line: Buffer): void;
  /** Nothing more comes, for the reason given in words; `failed` unless it was no fault of the program. */
  onEnd(reason: string, failed: boolean): void;
  /** Since when, on the clock's scale, nobody waits for it or listens to it; null while somebody does. */
  idleSince(): number | null;
}

/** How long a program is given once its input has ended, and once it was asked to end, milliseconds. */
export interface Graces {
  readonly inputMs: number;
  readonly termMs: number;
}

export const unhurried: Graces = { inputMs: 2000, termMs: 3000 };
export const hurried: Graces = { inputMs: 300, termMs: 700 };

export interface ProgramOptions {
  readonly command: Command;
  readonly clock: Clock;
  readonly log: ProgramLog;
  readonly maxLineBytes?: number | undefined;
  readonly events: ProgramEvents;
}

interface Pipes {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

/** One process with its pipes. It leads a process group of its own, so that what it has started ends with it. */
export class Program {
  /** Resolves when no process is left. */
  readonly gone: Promise<void>;
  readonly #pipes: Pipes;
  readonly #options: ProgramOptions;
  readonly #reader: LineReader;
  readonly #resolveGone: () => void;
  #ended = false;
  #exited: string | null = null;
  #left = false;
  #unschedule: (() => void) | null = null;

  constructor(options: ProgramOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.gone = promise;
    this.#resolveGone = resolve;
    const { command, events, log } = options;
    this.#reader = new LineReader(options.maxLineBytes ?? MAX_LINE_BYTES, (line) => {
      if (!this.#ended) events.onLine(line);
    });
    this.#pipes = spawned(command);
    const { child, stdin, stdout, stderr } = this.#pipes;
    child.on('error', (error) => {
      if (child.pid === undefined) this.#neverBegan(error);
    });
    child.on('exit', (code, signal) => this.#hasExited(signal ?? `code ${code}`));
    child.on('close', () => this.#hasLeft());
    stdin.on('error', () => this.#closed('the program closed its input'));
    stdout.on('error', () => this.#fail('the output of the program cannot be read'));
    stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    stdout.on('end', () => this.#outputEnded());
    stderr.on('error', () => {});
    stderr.on('data', (chunk: Buffer) => log.stderr(chunk));
    stderr.on('end', () => log.end());
  }

  /** Undefined when it could not be started. */
  get pid(): number | undefined {
    return this.#pipes.child.pid;
  }

  /** Whether it can still be asked something, as far as is known. */
  get usable(): boolean {
    return !this.#ended && this.#exited === null && !this.#left;
  }

  /** Sends one line; false when too much waits already for the program to read. */
  write(line: string): boolean {
    const { stdin } = this.#pipes;
    if (stdin.writableLength > MAX_WAITING_BYTES) return false;
    if (stdin.writable) stdin.write(line);
    return true;
  }

  pause(): void {
    if (this.#exited === null) this.#pipes.stdout.pause();
  }

  resume(): void {
    this.#pipes.stdout.resume();
  }

  /** Ends its input, asks it to end, makes it end; a second call may be in more of a hurry. */
  stop(graces: Graces): Promise<void> {
    this.#ended = true;
    if (this.#left) return this.gone;
    this.#pipes.stdin.end();
    // Nobody reads on, but a program that waits for a reader could not end.
    this.#pipes.stdout.resume();
    this.#later(graces.inputMs, () => {
      this.#signal('SIGTERM');
      this.#later(graces.termMs, () => {
        this.#signal('SIGKILL');
        this.#later(LAST_WORDS_MS, () => this.#hasLeft());
      });
    });
    return this.gone;
  }

  /** Since when nobody needs it; null while somebody does, and for one that ends. */
  idleSince(): number | null {
    return this.#ended ? null : this.#options.events.idleSince();
  }

  /** Another program needs its place. */
  giveWay(): void {
    this.#end('the program lay idle and has made room for another', false);
    void this.stop(hurried);
  }

  #read(chunk: Buffer): void {
    if (this.#ended || this.#reader.take(chunk)) return;
    this.#fail('the program wrote a line that is too long');
  }

  #outputEnded(): void {
    this.#reader.end();
    this.#closed('the program closed its output');
  }

  /** One that exits closes its pipes first: it has a moment to tell how it went. */
  #closed(reason: string): void {
    if (this.#exited === null && !this.#ended) this.#later(LAST_WORDS_MS, () => this.#fail(reason));
  }

  /** It is of no use any more, though it may still run. */
  #fail(reason: string): void {
    if (this.#exited === null && !this.#ended) {
      this.#end(reason);
      void this.stop({ inputMs: 0, termMs: unhurried.termMs });
    }
  }

  #neverBegan(error: Error): void {
    this.#end(`the program ${this.#options.command.file} could not be started: ${startFailure(error)}`);
    this.#hasLeft();
  }

  #hasExited(how: string): void {
    this.#exited = how;
    // What it has started would hold its pipes open, and has nobody to talk to.
    this.#signal('SIGKILL');
    this.#pipes.stdout.resume();
    if (!this.#left) this.#later(LAST_WORDS_MS, () => this.#hasLeft());
  }

  #hasLeft(): void {
    if (this.#left) return;
    this.#left = true;
    this.#unschedule?.();
    this.#pipes.stdin.destroy();
    this.#pipes.stdout.destroy();
    this.#pipes.stderr.destroy();
    this.#end(`the program ended with ${this.#exited ?? 'an error'}`);
    this.#resolveGone();
  }

  #end(reason: string, failed = true): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#options.events.onEnd(reason, failed);
  }

  #later(delayMs: number, work: () => void): void {
    this.#unschedule?.();
    this.#unschedule = this.#options.clock.schedule(work, delayMs);
  }

  #signal(signal: NodeJS.Signals): void {
    const { child } = this.#pipes;
    const { pid } = child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // Nobody of the group is left.
    }
  }
}

/** Throws where the system has no room for another process. */
function spawned({ file, args, env }: Command): Pipes {
  const child: ChildProcess = spawn(file, args, {
    env,
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  const { stdin, stdout, stderr } = child;
  if (stdin !== null && stdout !== null && stderr !== null && stdin !== undefined)
    return { child, stdin, stdout, stderr };
  child.on('error', () => {});
  throw new Error('there are too many open files');
}

function startFailure(error: Error): string {
  const code = systemCodeOf(error);
  if (code === 'ENOENT') return 'there is no such command';
  if (code === 'EACCES') return 'the command may not be executed';
  return code ?? error.message;
}
