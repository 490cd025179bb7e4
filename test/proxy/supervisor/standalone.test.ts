import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { Gateway, standaloneProvider, type ConfigProvider } from '../../../proxy/index.ts';

let folder: string;
let path: string;
let gateway: Gateway | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gw-'));
  path = join(folder, 'config.yaml');
});

afterEach(async () => {
  await gateway?.shutdown();
  gateway = null;
  await rm(folder, { recursive: true, force: true });
});

function text(body: string, more = ''): string {
  return `config:
  adminAddr: 127.0.0.1:0
  statsAddr: off
  readinessAddr: off
  enableIpv6: false
  workerThreads: 1
binds:
- port: 8080
  listeners:
  - routes:
    - name: hello
      policies:
        directResponse: { status: 200, body: ${body} }
${more}`;
}

/** The file's ports are those of a real machine; tests take any. */
function onAnyPort(provider: ConfigProvider): ConfigProvider {
  return {
    source: provider.source,
    watch: (files, onChange) => provider.watch(files, onChange),
    diff: (live, rejected) => provider.diff(live, rejected),
    placeOfUrl: (url) => provider.placeOfUrl(url),
    read: async () => {
      const read = await provider.read();
      return { ...read, config: { ...read.config, binds: read.config.binds.map((bind) => ({ ...bind, port: 0 })) } };
    },
  };
}

async function start(): Promise<Gateway> {
  gateway = await Gateway.start({
    provider: onAnyPort(standaloneProvider({ kind: 'file', path }, { env: {} })),
    dataPlane: new URL('fake-data-plane.ts', import.meta.url),
    build: { version: '1', gitRevision: '' },
    output: { write: async () => {} },
  });
  return gateway;
}

async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 300 && !condition(); n++) await new Promise((resolve) => setTimeout(resolve, 10));
  if (!condition()) throw new Error(JSON.stringify(gateway?.status));
}

test('a file that an editor replaced goes live; a broken one is kept out, told with its place and its difference', async () => {
  await writeFile(path, text('one'));
  const running = await start();
  const first = running.status.live.revision;
  await writeFile(join(folder, 'new'), text('two'));
  await rename(join(folder, 'new'), path);
  await until(() => running.status.live.revision !== first);
  const second = running.status.live.revision;

  await writeFile(path, text('three', 'nonsense: true\n'));
  await until(() => running.status.rejected !== null);
  expect(running.status).toMatchObject({
    live: { revision: second, source: path },
    rejected: {
      revision: null,
      errors: [{ message: expect.stringMatching(/config\.yaml:14:1: .*nonsense/), code: 'GW_CONFIG_UNKNOWN_KEY' }],
    },
  });
  expect(running.status.diff.map(({ kind, path: at }) => [kind, at])).toEqual([
    ['changed', 'binds[0].listeners[0].routes[0].policies.directResponse.body'],
    ['added', 'nonsense'],
  ]);

  await writeFile(path, text('two'));
  await until(() => running.status.rejected === null);
  expect(running.status.live.revision).toBe(second);
});

test('a file that went away keeps the configuration, and its return is seen', async () => {
  await writeFile(path, text('one'));
  const running = await start();
  await rm(path);
  await until(() => running.status.rejected !== null);
  expect(running.status.diff).toEqual([]);
  await writeFile(path, text('one'));
  await until(() => running.status.rejected === null);
});
