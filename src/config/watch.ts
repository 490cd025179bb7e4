import { watch, type FSWatcher } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface WatchOptions {
  /** Quiet time after the last event before `onChange` is called. Default: 250. */
  readonly debounceMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface FileWatch {
  /** Resolves when the watchers are set and the present state of the files is known. */
  readonly ready: Promise<void>;
  /** Watches other files from now on. Resolves as `ready` does. */
  update(paths: readonly string[]): Promise<void>;
  close(): void;
}

/**
 * Calls `onChange` with the files of `paths` (absolute) that changed, appeared or went away. The directories are watched,
 * not the files, so that an editor's rename-and-replace, a swapped `..data` link of a Kubernetes volume and a file that is
 * deleted and comes back are all seen. A file counts as changed when its target, inode, size or time of change differs.
 */
export function watchFiles(
  paths: readonly string[],
  onChange: (changed: readonly string[]) => void,
  options: WatchOptions = {},
): FileWatch {
  return new Watch(paths, onChange, options);
}

class Watch implements FileWatch {
  readonly ready: Promise<void>;
  readonly #onChange: (changed: readonly string[]) => void;
  readonly #debounceMs: number;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #states = new Map<string, string>();
  readonly #signal: AbortSignal | undefined;
  #paths: readonly string[];
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  #looks: Promise<void> = Promise.resolve();

  constructor(
    paths: readonly string[],
    onChange: (changed: readonly string[]) => void,
    { debounceMs = 250, signal }: WatchOptions,
  ) {
    this.#paths = paths;
    this.#onChange = onChange;
    this.#debounceMs = debounceMs;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted === true) this.close();
    this.ready = this.#look();
  }

  async update(paths: readonly string[]): Promise<void> {
    this.#paths = paths;
    for (const path of this.#states.keys()) if (!paths.includes(path)) this.#states.delete(path);
    await this.#look();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#abort);
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  readonly #abort = (): void => this.close();

  readonly #event = (): void => {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(true), this.#debounceMs);
  };

  /** Looks one after the other, so that each compares with what the one before saw. */
  #look(settled = false): Promise<void> {
    const compare = (): Promise<void> => this.#compare(settled);
    this.#looks = this.#looks.then(compare, compare);
    return this.#looks;
  }

  async #compare(settled: boolean): Promise<void> {
    if (this.#closed) return;
    const paths = this.#paths;
    await this.#rearm(paths);
    const changed: string[] = [];
    for (const path of paths) {
      const state = await stateOf(path);
      const before = this.#states.get(path);
      const differs = before !== undefined && before !== state;
      if (differs) changed.push(path);
      // A look in between may meet a file that is being written: what it finds is told once nothing has moved for a while.
      if (settled || !differs) this.#states.set(path, state);
    }
    if (changed.length === 0 || this.#closed) return;
    if (settled) this.#onChange(changed);
    else this.#event();
  }

  /** Watches the directories that matter now: those of the paths and of what they link to, or the nearest that exist. */
  async #rearm(paths: readonly string[]): Promise<void> {
    const wanted = new Set((await Promise.all(paths.map(directoriesOf))).flat());
    if (this.#closed) return;
    for (const [directory, watcher] of this.#watchers) {
      if (wanted.has(directory)) continue;
      watcher.close();
      this.#watchers.delete(directory);
    }
    for (const directory of wanted) if (!this.#watchers.has(directory)) this.#watch(directory);
  }

  #watch(directory: string): void {
    try {
      const watcher = watch(directory, { persistent: false }, this.#event);
      watcher.on('error', () => this.#drop(directory, watcher));
      watcher.on('change', (event, name) => {
        // The directory itself was moved or removed: this watcher sees nothing any more.
        if (event === 'rename' && (name === null || directory.endsWith(`/${String(name)}`)))
          this.#drop(directory, watcher);
      });
      this.#watchers.set(directory, watcher);
    } catch {
      // Gone between the look and now: the next event of its parent, which is watched too, brings another look.
      this.#event();
    }
  }

  #drop(directory: string, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watchers.get(directory) === watcher) this.#watchers.delete(directory);
    this.#event();
  }
}

/** The directory of a path, the one above it, and the directory of what it links to. */
async function directoriesOf(path: string): Promise<string[]> {
  const parent = await nearestDirectory(dirname(path));
  const found = new Set([parent, await nearestDirectory(dirname(parent))]);
  try {
    found.add(dirname(await realpath(path)));
  } catch {
    // It does not exist now; its directory will tell when it comes.
  }
  return [...found];
}

async function nearestDirectory(path: string): Promise<string> {
  for (let current = path; ; current = dirname(current)) {
    try {
      if ((await stat(current)).isDirectory()) return current;
    } catch {
      // Not there: look above it.
    }
    if (current === dirname(current)) return current;
  }
}

async function stateOf(path: string): Promise<string> {
  try {
    const [target, { dev, ino, size, mtimeNs }] = await Promise.all([realpath(path), stat(path, { bigint: true })]);
    return `${target} ${dev} ${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'absent';
  }
}
