import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn, type IPty } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const here = path.dirname(fileURLToPath(import.meta.url));

/** A real pseudo-terminal with a program in it, and what its user would see. */
export class TestTerminal {
  readonly #pty: IPty;
  readonly #screen: xterm.Terminal;
  readonly #listeners = new Set<() => void>();
  readonly exited: Promise<number>;
  raw = '';

  private constructor(command: readonly string[], columns: number, rows: number) {
    const [file = '', ...args] = command;
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: '/nonexistent',
      TERM: 'xterm-256color',
      NODE_ENV: 'production',
    };
    this.#screen = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
    this.#pty = spawn(file, args, { cols: columns, rows, env, cwd: path.resolve(here, '../../..') });
    this.#pty.onData((data) => {
      this.raw += data;
      this.#screen.write(data, () => this.#changed());
    });
    this.exited = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  /** Runs one of the entry scripts of this folder with the Node that runs the tests. */
  static entry(script: string, args: readonly string[], size: { columns: number; rows: number }): TestTerminal {
    const command = [process.execPath, '--import', path.join(here, 'tsx-hooks.js'), path.join(here, script), ...args];
    return new TestTerminal(command, size.columns, size.rows);
  }

  static shell(size: { columns: number; rows: number }): TestTerminal {
    return new TestTerminal(['/bin/bash', '--norc', '--noprofile', '-i'], size.columns, size.rows);
  }

  type(keys: string): void {
    this.#pty.write(keys);
  }

  resize(columns: number, rows: number): void {
    this.#screen.resize(columns, rows);
    this.#pty.resize(columns, rows);
  }

  text(): string {
    const buffer = this.#screen.buffer.active;
    return Array.from(
      { length: this.#screen.rows },
      (_, row) => buffer.getLine(buffer.viewportY + row)?.translateToString(true) ?? '',
    ).join('\n');
  }

  get isAlternate(): boolean {
    return this.#screen.buffer.active.type === 'alternate';
  }

  /** Waits until the screen shows what is wanted; fails with the screen in the message. */
  async shows(wanted: RegExp | string, timeoutMs = 20_000): Promise<void> {
    const isShown = (): boolean =>
      typeof wanted === 'string' ? this.text().includes(wanted) : wanted.test(this.text());
    await this.until(isShown, String(wanted), timeoutMs);
  }

  async until(condition: () => boolean, what: string, timeoutMs = 20_000): Promise<void> {
    if (condition()) return;
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => finish(new Error(`not seen: ${what}\n${this.text()}`)), timeoutMs);
      const check = (): void => {
        if (condition()) finish();
      };
      const finish = (error?: Error): void => {
        clearTimeout(timer);
        this.#listeners.delete(check);
        if (error === undefined) resolve();
        else reject(error);
      };
      this.#listeners.add(check);
    });
  }

  terminate(): void {
    this.#pty.kill('SIGTERM');
  }

  kill(): void {
    try {
      this.#pty.kill('SIGKILL');
    } catch {
      /* It has ended by itself. */
    }
    this.#screen.dispose();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
