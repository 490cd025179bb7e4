import { type ChildProcess, spawn } from 'node:child_process';

import type { Log } from '../../../../src/shared/log.ts';

/**
 * Learns of process groups that begin (`+ 123`) and end (`- 123`). When its input ends, the gateway, or the data thread,
 * is gone, however that came about: what still runs is asked to end, and then made to.
 */
const SCRIPT = `
trap '' HUP INT TERM
groups=' '
while read -r what id; do
  case "$what" in
    +) groups="$groups-$id " ;;
    -) case "$groups" in *" -$id "*) groups="\${groups%% -$id *} \${groups#* -$id }" ;; esac ;;
  esac
done
[ "$groups" = ' ' ] && exit 0
sleep 1
kill -s TERM -- $groups 2>/dev/null
sleep 2
kill -s KILL -- $groups 2>/dev/null
exit 0
`;

/** A shell that outlives the data thread by moments, so that its programs do not; started with the first of them. */
export class Guardian {
  readonly #log: Log;
  readonly #groups = new Set<number>();
  #shell: ChildProcess | null = null;
  #closed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  began(group: number): void {
    this.#groups.add(group);
    if (this.#shell === null) this.#start();
    else this.#tell(`+ ${group}\n`);
  }

  ended(group: number): void {
    if (this.#groups.delete(group)) this.#tell(`- ${group}\n`);
  }

  close(): void {
    this.#closed = true;
    this.#shell?.stdin?.end();
  }

  #start(): void {
    // Windows has neither groups nor a shell of this kind; a program that reads its input ends there by itself.
    if (this.#closed || process.platform === 'win32') return;
    const shell = spawn('/bin/sh', ['-c', SCRIPT], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      env: {},
      cwd: '/',
    });
    this.#shell = shell;
    shell.unref();
    shell.on('error', (error) => this.#lost(shell, error.message));
    shell.on('exit', (code, signal) => this.#lost(shell, `it ended with ${signal ?? code}`));
    shell.stdin.on('error', () => {});
    for (const group of this.#groups) this.#tell(`+ ${group}\n`);
  }

  #tell(line: string): void {
    const input = this.#shell?.stdin;
    if (input?.writable === true) input.write(line);
  }

  /** The next program starts another one. */
  #lost(shell: ChildProcess, error: string): void {
    if (this.#shell !== shell) return;
    this.#shell = null;
    if (!this.#closed) this.#log.warn('programs are left alone if the gateway is killed', { error });
  }
}
