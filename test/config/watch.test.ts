import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { watchFiles, type FileWatch } from '../../src/config/index.ts';

describe('watching files', () => {
  let directory: string;
  let watching: FileWatch | undefined;
  const events: (readonly string[])[] = [];
  let waiting: (() => void) | undefined;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'gw-watch-'));
  });
  afterEach(async () => {
    watching?.close();
    watching = undefined;
    events.length = 0;
    await rm(directory, { recursive: true, force: true });
  });

  async function start(paths: readonly string[], signal?: AbortSignal): Promise<void> {
    watching = watchFiles(
      paths,
      (changed) => {
        events.push(changed);
        waiting?.();
      },
      { debounceMs: 5, signal },
    );
    await watching.ready;
  }

  /** The next change; one that was told already counts. */
  async function next(): Promise<readonly string[]> {
    while (events.length === 0)
      await new Promise<void>((resolve) => {
        waiting = resolve;
      });
    return events.shift() ?? [];
  }

  test('a file that is written in place', async () => {
    const path = join(directory, 'a.yaml');
    await writeFile(path, '1');
    await start([path]);
    await writeFile(path, '22');
    expect(await next()).toEqual([path]);
  });

  test('an editor that writes beside and renames over it, again and again', async () => {
    const path = join(directory, 'a.yaml');
    await writeFile(path, '1');
    await start([path]);
    for (const content of ['22', '333', '4444']) {
      await writeFile(`${path}.tmp`, content);
      await rename(`${path}.tmp`, path);
      expect(await next()).toEqual([path]);
    }
  });

  test('an editor that moves the old one away first', async () => {
    const path = join(directory, 'a.yaml');
    await writeFile(path, '1');
    await start([path]);
    await rename(path, `${path}~`);
    expect(await next()).toEqual([path]);
    await writeFile(path, '2');
    expect(await next()).toEqual([path]);
  });

  test('a file that is deleted and comes back', async () => {
    const path = join(directory, 'a.yaml');
    await writeFile(path, '1');
    await start([path]);
    await unlink(path);
    expect(await next()).toEqual([path]);
    await writeFile(path, '1');
    expect(await next()).toEqual([path]);
  });

  test('the swap of the ..data link of a Kubernetes volume, twice', async () => {
    const volume = join(directory, 'volume');
    await mkdir(join(volume, '..one'), { recursive: true });
    await writeFile(join(volume, '..one', 'a.yaml'), '1');
    await symlink('..one', join(volume, '..data'));
    await symlink('..data/a.yaml', join(volume, 'a.yaml'));
    await start([join(volume, 'a.yaml')]);
    for (const [name, before] of [
      ['..two', '..one'],
      ['..three', '..two'],
    ] as const) {
      await mkdir(join(volume, name));
      await writeFile(join(volume, name, 'a.yaml'), '1');
      await symlink(name, join(volume, '..data_tmp'));
      await rename(join(volume, '..data_tmp'), join(volume, '..data'));
      await rm(join(volume, before), { recursive: true });
      expect(await next()).toEqual([join(volume, 'a.yaml')]);
    }
  });

  test('a link whose target is elsewhere and is written', async () => {
    await mkdir(join(directory, 'real'));
    await mkdir(join(directory, 'links'));
    const target = join(directory, 'real', 'a.yaml');
    const path = join(directory, 'links', 'a.yaml');
    await writeFile(target, '1');
    await symlink(target, path);
    await start([path]);
    await writeFile(target, '22');
    expect(await next()).toEqual([path]);
  });

  test('a directory that is removed and made again with the file', async () => {
    const sub = join(directory, 'sub');
    const path = join(sub, 'a.yaml');
    await mkdir(sub);
    await writeFile(path, '1');
    await start([path]);
    await rm(sub, { recursive: true });
    expect(await next()).toEqual([path]);
    await mkdir(sub);
    await writeFile(path, '22');
    expect(await next()).toEqual([path]);
    await writeFile(path, '333');
    expect(await next()).toEqual([path]);
  });

  test('a file that does not exist yet', async () => {
    const path = join(directory, 'later.yaml');
    await start([path]);
    await writeFile(path, '1');
    expect(await next()).toEqual([path]);
  });

  test('a file beside the watched one is nothing to tell', async () => {
    const [path, beside] = [join(directory, 'a.yaml'), join(directory, 'b.yaml')];
    await writeFile(path, '1');
    await start([path]);
    await writeFile(beside, '1');
    await writeFile(path, '22');
    expect(await next()).toEqual([path]);
    expect(events).toEqual([]);
  });

  test('other files after an update', async () => {
    const [first, second] = [join(directory, 'a.yaml'), join(directory, 'sub', 'b.yaml')];
    await writeFile(first, '1');
    await mkdir(join(directory, 'sub'));
    await writeFile(second, '1');
    await start([first]);
    await watching?.update([second]);
    await writeFile(first, '22');
    await writeFile(second, '22');
    expect(await next()).toEqual([second]);
  });

  test('nothing is told after the signal, and nothing keeps the process', async () => {
    const path = join(directory, 'a.yaml');
    await writeFile(path, '1');
    const controller = new AbortController();
    await start([path], controller.signal);
    controller.abort();
    await start([path]);
    await writeFile(path, '22');
    expect(await next()).toEqual([path]);
    expect(events).toEqual([]);
  });

  test('a signal that is aborted already watches nothing', async () => {
    const path = join(directory, 'a.yaml');
    await start([path], AbortSignal.abort());
    expect(events).toEqual([]);
  });
});
