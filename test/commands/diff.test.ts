import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goldenPath } from '../golden.ts';
import { FakeAdmin } from './fake-admin.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

jest.setTimeout(60_000);

const recorded = readFileSync(goldenPath('cli/dump.json'), 'utf8');
const cleanup: (() => unknown)[] = [];
let folder = '';
let freePort = 0;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gwctl-diff-'));
  const probe = await FakeAdmin.start({});
  freePort = probe.port;
  await probe.stop();
});
afterEach(async () => {
  for (const step of cleanup.splice(0).toReversed()) await step();
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function yaml(routes: string): string {
  const local = `adminAddr: "unix:${folder}/admin.sock", statsAddr: "off", readinessAddr: "off", workerThreads: 1`;
  return `config: {${local}}\ngateways: {default: {port: ${freePort}}}\n${routes}`;
}

const ROUTES = `
routes:
- name: cart
  matches: [{path: {pathPrefix: /cart}}]
  policies: {requestHeaderModifier: {set: {authorization: "Bearer of-secrets", x-team: a}}}
  backends: [{host: "127.0.0.1:9000"}, {backend: shop}]
- {name: rest, backends: [{backend: shop}]}
backends:
- {name: shop, host: "127.0.0.1:9100"}
`;

/** A gateway on a configuration of `yaml`; returns its admin address. */
async function running(text: string): Promise<string> {
  const child = startGwctl(['proxy', 'run', '-f', file('running.yaml', text)]);
  const end = finished(child);
  cleanup.push(async () => {
    child.kill('SIGTERM');
    await end;
  });
  await new Promise<void>((resolve) => {
    child.stderr.on('data', (part) => String(part).includes('admin on') && resolve());
    child.once('close', () => resolve());
  });
  return `unix:${folder}/admin.sock`;
}

describe('config diff of saved dumps', () => {
  test('that say the same is silent and exits with 0', async () => {
    const [a, b] = [file('a.json', recorded), file('b.json', recorded)];
    const { code, stdout, stderr } = await gwctl(['proxy', 'config', 'diff', '--file', a, '--with', b]);
    expect([code, stdout, stderr]).toEqual([0, '', 'nothing differs\n']);
    expect(await gwctl(['config', 'diff', '-f', a, '--with', b, '-o', 'json', '-q'])).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    });
  });

  test('that differ exits with 6 and prints where', async () => {
    const a = file('a.json', recorded);
    const b = file('b.json', recorded.replace('"target": "127.0.0.1:9000"', '"target": "127.0.0.1:9001"'));
    const { code, stdout } = await gwctl(['config', 'diff', '-f', a, '--with', b]);
    expect([code, stdout.split('\n').slice(2)]).toEqual([
      6,
      ['~ backend default/echo', '    ~ host.target: "127.0.0.1:9000" → "127.0.0.1:9001"', ''],
    ]);
    const json = await gwctl(['config', 'diff', '-f', a, '--with', '-', '-o', 'json'], { input: readFileSync(b) });
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      6,
      [
        {
          kind: 'changed',
          resource: 'backend',
          key: 'default/echo',
          path: 'host.target',
          before: '127.0.0.1:9000',
          after: '127.0.0.1:9001',
        },
      ],
    ]);
    const coloured = await gwctl(['config', 'diff', '-f', a, '--with', b, '--color', 'always']);
    expect(coloured.stdout).toContain('\u001B[');
  });

  test('says when revisions differ in something that dumps do not show', async () => {
    const [a, b] = [file('a.json', recorded), file('b.json', recorded.replace('"7f3a"', '"81c2"'))];
    const { code, stderr } = await gwctl(['config', 'diff', '-f', a, '--with', b]);
    expect([code, stderr.includes('7f3a, 81c2')]).toEqual([0, true]);
  });

  test('with a proxy takes its address, or the one on this machine', async () => {
    const server = await FakeAdmin.start({ '/config_dump': { body: recorded } });
    cleanup.push(() => server.stop());
    const a = file('a.json', recorded);
    const port = String(server.port);
    for (const words of [
      ['-f', a, '--with', server.address],
      ['-f', a, '--with', 'local', '-p', port],
      ['-f', a, '--address', server.address],
      ['--address', server.address, '--with', a],
      ['--address', server.address, '--with', server.address],
      ['-f', a, '-p', port],
    ]) {
      const { code, stdout } = await gwctl(['config', 'diff', ...words]);
      expect([words, code, stdout]).toEqual([words, 0, '']);
    }
  });

  test.each([
    [[], '--file or --with'],
    [['--local'], '--file or --with'],
    [['-f', 'a', '--with', 'b', '--local'], 'are three'],
    [['-f', '-', '--with', '-'], 'stdin'],
    [['-f', 'a', '--with', 'b', '-p', '1'], '--admin-port'],
    [['-f', 'a', '--with', 'b', '--timeout', '1s'], '--timeout'],
  ])('%j is wrong usage', async (words, reason) => {
    const { code, stderr } = await gwctl(['config', 'diff', ...words]);
    expect([code, stderr.includes(reason)]).toEqual([2, true]);
  });

  test('a side that cannot be had is an error and no difference', async () => {
    const a = file('a.json', recorded);
    const codeOf = async (other: string): Promise<number | null> =>
      (await gwctl(['config', 'diff', '-f', a, '--with', other])).code;
    expect(await codeOf(join(folder, 'none.json'))).toBe(3);
    expect(await codeOf('127.0.0.1:1')).toBe(4);
    expect(await codeOf(file('empty.json', ''))).toBe(1);
    expect(await codeOf(file('cut.json', recorded.slice(0, 300)))).toBe(1);
    expect(await codeOf(file('bad.yaml', 'rotues: []\n'))).toBe(1);
  });
});

describe('config diff of a configuration file', () => {
  test('finds nothing when the proxy has loaded it, and what it would change otherwise', async () => {
    const text = yaml(ROUTES);
    const address = await running(text);
    const same = await gwctl(['config', 'diff', '-f', file('same.yaml', text), '--address', address]);
    expect(same).toEqual({ code: 0, stdout: '', stderr: 'nothing differs\n' });

    const edited = file(
      'edited.yaml',
      text
        .replace('/cart}', '/basket}')
        .replace('x-team: a', 'x-team: b')
        .replace('of-secrets', 'another')
        .replace('- {name: rest, backends: [{backend: shop}]}\n', '')
        .replace('127.0.0.1:9100', '127.0.0.1:9200')
        .replace('workerThreads: 1', 'workerThreads: 2'),
    );
    const { code, stdout } = await gwctl(['config', 'diff', '-f', edited, '--address', address]);
    expect(code).toBe(6);
    expect(stdout).not.toContain('another');
    expect(stdout.split('\n')).toEqual([
      `--- ${address}`,
      `+++ ${edited}`,
      '~ settings config',
      '    ~ numWorkerThreads: 1 → 2',
      '~ route gateway/default/default/cart',
      '    ~ matches[0].path.pathPrefix: "/cart" → "/basket"',
      '    ~ policies.requestHeaderModifier.set.x-team: "a" → "b"',
      '- route gateway/default/default/rest',
      expect.stringContaining('- name: "rest"'),
      expect.anything(),
      expect.anything(),
      expect.anything(),
      expect.anything(),
      '~ backend default/shop',
      '    ~ host.target: "127.0.0.1:9100" → "127.0.0.1:9200"',
      '',
    ]);
  });

  test('does not compare settings that it does not name', async () => {
    const address = await running(yaml(ROUTES));
    const bare = file('bare.yaml', yaml(ROUTES).replace(/^config:.*\n/, ''));
    const { code } = await gwctl(['config', 'diff', '-f', bare, '--address', address], {
      env: { IPV6_ENABLED: 'false' },
    });
    expect(code).toBe(0);
  });

  test('with another configuration file needs no proxy', async () => {
    const [a, b] = [file('a.yaml', yaml(ROUTES)), file('b.yaml', yaml(ROUTES.replace('/cart}', '/basket}')))];
    const { code, stdout } = await gwctl(['config', 'diff', '-f', a, '--with', b]);
    expect([code, stdout.includes('"/cart" → "/basket"')]).toEqual([6, true]);
    const same = await gwctl(['config', 'diff', '-f', a, '--with', '-'], { input: yaml(ROUTES) });
    expect([same.code, same.stdout]).toEqual([0, '']);
  });
});
