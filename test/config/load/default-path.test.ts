import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { defaultConfigPath, loadConfig, type DefaultPathFs } from '../../../src/config/index.ts';

function fakeFs(existing: Readonly<Record<string, 'writable' | 'readonly'>> = {}) {
  const created = new Map<string, string>();
  const fs: DefaultPathFs = {
    isDirectory: async (path) => path in existing,
    isWritable: async (path) => existing[path] === 'writable',
    makeDirectory: async () => undefined,
    create: async (path, text) => {
      created.set(path, text);
      return true;
    },
  };
  return { fs, created };
}

describe('the default configuration file', () => {
  test('lies in /config where that can be written to', async () => {
    const { fs } = fakeFs({ '/config': 'writable' });
    expect(await defaultConfigPath({ HOME: '/h' }, fs)).toEqual({
      kind: 'file',
      path: '/config/config.yaml',
      created: true,
    });
  });

  test('a /config that cannot be written to is an error', async () => {
    await expect(defaultConfigPath({ HOME: '/h' }, fakeFs({ '/config': 'readonly' }).fs)).rejects.toThrow(
      'cannot be written to',
    );
  });

  test('a container without /config is an error', async () => {
    await expect(defaultConfigPath({ HOME: '/h', GW_ENV: 'container' }, fakeFs().fs)).rejects.toThrow(
      'there is no directory /config',
    );
  });

  test('lies in the configuration directory of the user otherwise', async () => {
    expect(await defaultConfigPath({ HOME: '/h' }, fakeFs().fs)).toMatchObject({
      path: '/h/.config/gwctl/config.yaml',
    });
    expect(await defaultConfigPath({ HOME: '/h', XDG_CONFIG_HOME: '/x' }, fakeFs().fs)).toMatchObject({
      path: '/x/gwctl/config.yaml',
    });
  });

  test('needs a home', async () => {
    await expect(defaultConfigPath({}, fakeFs().fs)).rejects.toMatchObject({ code: 'GW_CONFIG_DEFAULT' });
  });

  test('inside Kubernetes has to be named', async () => {
    await expect(defaultConfigPath({ KUBERNETES_SERVICE_HOST: '10.0.0.1' }, fakeFs().fs)).rejects.toThrow(
      'inside Kubernetes',
    );
    expect(
      await defaultConfigPath({ KUBERNETES_SERVICE_HOST: '10.0.0.1', LOCAL_XDS_PATH: '/d.yaml' }, fakeFs().fs),
    ).toEqual({ kind: 'dynamic', path: '/d.yaml' });
  });

  describe('on a disk', () => {
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'gw-default-'));
    });
    afterEach(() => rm(home, { recursive: true }));

    test('is created once, loads clean and is never overwritten', async () => {
      const first = await defaultConfigPath({ XDG_CONFIG_HOME: home });
      if (first.kind !== 'file') throw new Error('expected a file');
      expect(first.created).toBe(true);
      const { config } = await loadConfig({ kind: 'file', path: first.path }, { env: {} });
      expect(config.binds.map((bind) => bind.port)).toEqual([4000]);
      await writeFile(first.path, 'mine: 1');
      expect(await defaultConfigPath({ XDG_CONFIG_HOME: home })).toEqual({ ...first, created: false });
      expect(await readFile(first.path, 'utf8')).toBe('mine: 1');
    });

    test('a place that cannot hold it is an error that says so', async () => {
      await writeFile(join(home, 'file'), '');
      await expect(defaultConfigPath({ XDG_CONFIG_HOME: join(home, 'file') })).rejects.toMatchObject({
        code: 'GW_CONFIG_DEFAULT',
        hint: 'name a file with -f',
      });
    });
  });
});
