import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';

export interface Ran {
  readonly output: string;
  readonly code: number;
}

const MARK = 'command-ended-7f3a';

/** One shell that keeps its folder, functions and background jobs between commands, as a terminal does. */
export class Shell {
  readonly #child: ChildProcessWithoutNullStreams;
  #text = '';
  #changed: () => void = () => {};
  #gone = false;

  constructor(cwd: string, env: Readonly<Record<string, string>>) {
    // A process group of its own, so that whatever it started ends with it.
    this.#child = spawn('/bin/sh', [], { cwd, env, detached: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#text += text;
        this.#changed();
      });
    }
    this.#child.stdin.on('error', () => {});
    this.#child.on('close', () => {
      this.#gone = true;
      this.#changed();
    });
  }

  /** Everything the shell wrote, for the message of a test that fails. */
  transcript = '';

  async run(command: string): Promise<Ran> {
    this.#text = '';
    this.#child.stdin.write(
      `{\n${command}\n} 2>&1 </dev/null\n__code=$?; printf '\\n${MARK} %s\\n' $__code; (exit $__code)\n`,
    );
    for (;;) {
      const ended = new RegExp(`\\n${MARK} (\\d+)\\n`).exec(this.#text);
      if (ended !== null) {
        const output = this.#text.slice(0, ended.index);
        this.transcript += `$ ${command}\n${output}\n`;
        return { output, code: Number(ended[1]) };
      }
      if (this.#gone) throw new Error(`the shell ended in: ${command}\n${this.#text}`);
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  close(): void {
    const { pid } = this.#child;
    if (pid === undefined || this.#gone) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The group has ended by itself.
    }
  }
}
