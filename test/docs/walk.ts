import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { freePort } from '../free-port.ts';
import { agrees, type Step, steps } from './console.ts';
import { blocks, read, root } from './markdown.ts';
import { Shell } from './shell.ts';

/** The ports that pages and examples name. */
const PORTS = [4317, 4318, 5432, 8080, 8081, 8443, 9000, 9001, 9002, 9003, 9443, 15_000, 15_020, 15_021] as const;

const PORT = new RegExp(`(?<![\\d.])(${PORTS.join('|')})(?![\\d.])`, 'g');

export interface Ports {
  /** The text with free ports in place of those of the page. */
  into(text: string): string;
  back(text: string): string;
  of(port: (typeof PORTS)[number]): number;
}

export async function freePorts(): Promise<Ports> {
  const free = new Map<number, number>();
  for (const port of PORTS) free.set(port, await freePort(new Set(free.values())));
  const of = (port: number): number => free.get(port) ?? port;
  const names = new Map([...free].map(([port, other]) => [String(other), String(port)]));
  const back = (text: string): string => text.replaceAll(/\d+/g, (digits) => names.get(digits) ?? digits);
  return { of, back, into: (text) => text.replaceAll(PORT, (port) => String(of(Number(port)))) };
}

/**
 * Types what the blocks of a page say into one shell and compares what comes back. With `UPDATE_GOLDEN=1` the page is
 * written anew where it differs.
 */
export class Walk {
  readonly shell: Shell;
  readonly #ports: Ports;
  readonly #record = process.env['UPDATE_GOLDEN'] === '1';

  /** `folder` is for what has to be found on the path and for temporary files. */
  constructor(cwd: string, folder: string, ports: Ports) {
    this.#ports = ports;
    this.shell = new Shell(cwd, environment(folder, ports));
  }

  /** Follows a page, by its path from the root of the repository. */
  async follow(page: string): Promise<void> {
    const lines = read(page).split('\n');
    let moved = 0;
    for (const block of blocks(lines.join('\n'))) {
      if (block.file !== undefined) await this.#save(block.file, this.#ports.into(block.text));
      if (block.kind !== 'console') continue;
      const shown = await this.#typeAll(steps(block.text));
      if (!this.#record) continue;
      const length = block.text.split('\n').length - 1;
      lines.splice(block.line + moved, length, ...shown);
      moved += shown.length - length;
    }
    if (this.#record) writeFileSync(join(root, page), lines.join('\n'));
  }

  /** Types what one part of a page says. */
  async type(part: string): Promise<void> {
    for (const { kind, text } of blocks(part)) if (kind === 'console') await this.#typeAll(steps(text));
  }

  close(): void {
    this.shell.close();
  }

  /** The block as it should be. */
  async #typeAll(typed: readonly Step[]): Promise<string[]> {
    const shown: string[] = [];
    for (const [at, step] of typed.entries()) {
      const output = await this.#type(step, typed[at + 1]);
      shown.push(...`$ ${step.command.replaceAll('\n', '\n> ')}`.split('\n'), ...output);
    }
    return shown;
  }

  async #type({ command, expected }: Step, following: Step | undefined): Promise<readonly string[]> {
    const words = this.#ports.into(command).replaceAll('--local', `--local --admin-port ${this.#ports.of(15_000)}`);
    const { output: bytes, code } = await this.shell.run(words);
    // Heads of answers end their lines in CRLF.
    const output = bytes.replaceAll('\r\n', '\n');
    const failureIsShown = following?.command === 'echo $?';
    if (code !== 0 && !failureIsShown) throw new Error(`exit code ${code}\n${this.shell.transcript}`);
    if (expected.length === 0 || agrees(expected.map(this.#ports.into), output)) return expected;
    if (this.#record) return this.#ports.back(output.trimEnd()).split('\n');
    throw new Error(`the page shows\n\n$ ${words}\n${expected.join('\n')}\n\nand it is\n\n${this.shell.transcript}`);
  }

  async #save(name: string, text: string): Promise<void> {
    const { output } = await this.shell.run('pwd');
    writeFileSync(join(output.trim(), name), text);
  }
}

/** The gateway's own addresses come from the environment, as docs/configuration.md says. */
function environment(folder: string, ports: Ports): Record<string, string> {
  const path = [folder, process.env['PATH'] ?? ''];
  provideCurl(folder);
  return {
    PATH: path.join(delimiter),
    HOME: process.env['HOME'] ?? folder,
    TMPDIR: folder,
    ADMIN_ADDR: `127.0.0.1:${ports.of(15_000)}`,
    STATS_ADDR: `127.0.0.1:${ports.of(15_020)}`,
    READINESS_ADDR: `127.0.0.1:${ports.of(15_021)}`,
    WORKER_THREADS: '1',
    npm_config_loglevel: 'error',
  };
}

/** The tour uses curl for plain requests; a machine without it gets one that can do as much. */
function provideCurl(folder: string): void {
  const script = `#!/bin/sh
IFS=:
for part in $PATH; do
  if [ -x "$part/curl" ] && [ "$part" != "${folder}" ]; then exec "$part/curl" "$@"; fi
done
exec "${process.execPath}" -e '
const [flags, url] = process.argv.slice(1);
fetch(url).then(async (answer) => {
  if (!answer.ok && flags.includes("f")) process.exit(22);
  process.stdout.write(await answer.text());
}, () => process.exit(7));
' "$@"
`;
  writeFileSync(join(folder, 'curl'), script, { mode: 0o755 });
}
