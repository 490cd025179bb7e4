import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodedProfile } from './profile-bytes.ts';
import { FakeAdmin, type FakeHandler } from './fake-admin.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

let folder = '';
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

async function admin(handlers: Readonly<Record<string, FakeHandler>>): Promise<FakeAdmin> {
  const started = await FakeAdmin.start(handlers);
  closers.push(() => started.stop());
  return started;
}

describe('proxy profile', () => {
  test('writes the file, says so, and lists the costliest functions', async () => {
    const server = await admin({ '/debug/pprof/profile': { body: encodedProfile() } });
    const { code, stdout, stderr } = await gwctl(
      ['profile', 'cpu', '--address', server.address, '--seconds', '2', '--frequency', '99', '-o', 'cpu.pb.gz'],
      { cwd: folder },
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Wrote cpu profile to cpu\.pb\.gz \(\d+ B\)\n\ntop /);
    expect(stdout).toContain('handleRequest');
    expect(stderr).toContain('sampling the processor for 2 s');
    expect(readFileSync(join(folder, 'cpu.pb.gz'))).toEqual(Buffer.from(encodedProfile()));
    expect(server.requests).toEqual(['GET /debug/pprof/profile?seconds=2&frequency=99']);
  });

  test('the default name has kind and time; -o - is stdout', async () => {
    const server = await admin({ '/debug/pprof/heap': { body: encodedProfile() } });
    await gwctl(['proxy', 'profile', 'heap', '--address', server.address], { cwd: folder });
    expect(readdirSync(folder)).toEqual([expect.stringMatching(/^gwctl-heap-\d{8}-\d{6}\.pb\.gz$/)]);
    const piped = await gwctl(['profile', 'heap', '--address', server.address, '-o', '-'], { cwd: folder });
    expect([piped.code, piped.stdout.length > 0, piped.stderr.includes('top ')]).toEqual([0, true, true]);
  });

  test.each([
    [{ status: 404, body: '' }, 'the proxy has no cpu profile'],
    [{ status: 500, body: 'a profile is being taken' }, 'returned 500 Internal Server Error: a profile is being taken'],
    [{ headers: { 'content-type': 'text/html' }, body: '<html>' }, 'no admin interface'],
    [{ body: 'not a profile' }, 'the proxy did not send a profile'],
  ])('%j leaves no file behind', async (reply, message) => {
    const server = await admin({ '/debug/pprof/profile': reply as FakeHandler });
    const { code, stderr } = await gwctl(
      ['profile', 'cpu', '--address', server.address, '--seconds', '1', '-o', 'cpu.pb.gz'],
      { cwd: folder },
    );
    expect(code).not.toBe(0);
    expect(stderr).toContain(message);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('Ctrl-C while sampling leaves no file behind', async () => {
    const asked = Promise.withResolvers<void>();
    const server = await admin({ '/debug/pprof/profile': () => asked.resolve() });
    const child = startGwctl(['profile', 'cpu', '--address', server.address, '-o', 'cpu.pb.gz'], { cwd: folder });
    const end = finished(child);
    await asked.promise;
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('profile view draws the flame graph and the table', async () => {
    writeFileSync(join(folder, 'p.pb.gz'), encodedProfile());
    const { code, stdout } = await gwctl(['profile', 'view', 'p.pb.gz', '--width', '60'], { cwd: folder });
    expect(code).toBe(0);
    expect(stdout).toContain('[all ');
    expect(stdout).toContain('FUNCTION');
    const broken = await gwctl(['profile', 'view', '-'], { input: 'no profile' });
    expect([broken.code, broken.stderr.startsWith('Error: ')]).toEqual([1, true]);
  });
});

describe('proxy log', () => {
  const log: FakeHandler = (_request, response) => response.end('current log level is info\n');

  test.each([
    [[], 'POST /logging'],
    [['--level', 'DEBUG'], 'POST /logging?reset&level=debug'],
    [['--set', 'a=debug,b=off', '--set', 'c=trace'], 'POST /logging?level=a%3Ddebug%2Cb%3Doff%2Cc%3Dtrace'],
    [['--level', 'warn', '--set', 'a=debug'], 'POST /logging?reset&level=warn%2Ca%3Ddebug'],
    [['--reset'], 'POST /logging?reset'],
  ])('%j asks for %s', async (flags, expected) => {
    const server = await admin({ '/logging': log });
    const { code, stdout } = await gwctl(['proxy', 'log', '--address', server.address, ...flags]);
    expect([code, stdout, server.requests]).toEqual([0, 'current log level is info\n', [expected]]);
  });

  test('-o json has the filter', async () => {
    const server = await admin({ '/logging': log });
    expect(JSON.parse((await gwctl(['proxy', 'log', '--address', server.address, '-o', 'json'])).stdout)).toEqual({
      filter: 'info',
      back: null,
    });
  });

  test('--for asks the proxy to go back by itself, and shows when', async () => {
    const body = 'current log level is debug\nback to info in 5m0s\n';
    const server = await admin({ '/logging': { headers: { 'content-type': 'text/plain' }, body } });
    const words = ['proxy', 'log', '--address', server.address, '--level', 'debug', '--for', '5m'];
    expect(await gwctl(words)).toEqual({ code: 0, stdout: body, stderr: '' });
    expect(server.requests).toEqual(['POST /logging?reset&level=debug&for=300000ms']);
    const { stdout } = await gwctl([...words, '-o', 'json']);
    expect(JSON.parse(stdout)).toEqual({ filter: 'debug', back: { filter: 'info', in: '5m0s' } });
  });

  test('a proxy that does not know --for is told of, since its levels stay', async () => {
    const server = await admin({ '/logging': log });
    const words = ['proxy', 'log', '--address', server.address, '--level', 'debug', '--for', '5m'];
    const { code, stderr } = await gwctl(words);
    expect([code, stderr.includes('GW_NOT_SUPPORTED')]).toEqual([1, true]);
  });

  test.each([
    [['--for', '5m'], '--for goes with'],
    [['--level', 'debug', '--for', 'soon'], 'not a duration'],
    [['--level', 'debug', '--for', '0s'], 'not a duration'],
  ])('%j is wrong usage', async (flags, reason) => {
    const { code, stderr } = await gwctl(['proxy', 'log', '--local', ...flags]);
    expect([code, stderr.includes(reason)]).toEqual([2, true]);
  });

  test('a refusal shows the words of the server', async () => {
    const server = await admin({ '/logging': { status: 400, body: 'Invalid level provided: nope' } });
    const { code, stderr } = await gwctl(['proxy', 'log', '--address', server.address, '--level', 'info']);
    expect([code, stderr.includes('Invalid level provided: nope')]).toEqual([2, true]);
  });
});

describe('other questions to a proxy', () => {
  test('memory, tasks, quit', async () => {
    const server = await admin({
      '/memory': { body: '{"allocator":{"name":"v8","rss":1048576},"cgroup":null,"pprof":{"live_stacks":3}}' },
      '/debug/tasks': { body: '{"admin":["a task\\n  at x"],"workload":[{"odd":1}]}' },
      '/quitquitquit': { headers: { 'content-type': 'text/plain' }, body: 'shutdown now\n' },
    });
    expect((await gwctl(['proxy', 'memory', '--address', server.address])).stdout).toBe(
      'allocator.name     v8\nallocator.rss      1.0 MiB\npprof.live_stacks  3\n',
    );
    expect((await gwctl(['proxy', 'tasks', '--address', server.address])).stdout).toBe(
      'RUNTIME   TASK\nadmin     a task\nworkload  {"odd":1}\n',
    );
    expect((await gwctl(['proxy', 'quit', '--address', server.address])).stdout).toBe('shutdown now\n');
    expect(server.requests.at(-1)).toBe('POST /quitquitquit');
  });

  test('config status shows what is live, what was rejected and the difference', async () => {
    const server = await admin({
      '/config_status': {
        body: JSON.stringify({
          live: { revision: 'abc', since: '2026-01-02T03:04:05Z', source: 'config.yaml' },
          rejected: {
            revision: null,
            at: '2026-01-02T03:05:00Z',
            errors: [{ message: 'config.yaml:3:1: unknown key\n  3 | rotues:\n    | ^^^^^^' }],
          },
          diff: [{ kind: 'changed', path: 'routes[0].name', before: 'a', after: 'b' }],
          restartNeeded: ['config.adminAddr'],
        }),
      },
    });
    const { code, stdout } = await gwctl(['config', 'status', '--address', server.address]);
    expect(code).toBe(0);
    for (const part of [
      'live      revision abc',
      'rejected  revision unknown at',
      '    | ^^^^^^',
      '- routes[0].name: "a"',
      '+ routes[0].name: "b"',
      'needs a restart: config.adminAddr',
    ]) {
      expect(stdout).toContain(part);
    }
  });

  test('version tells both sides and when they differ', async () => {
    const server = await admin({
      '/config_dump': { body: '{"binds":[],"version":{"version":"9.1.0","git_revision":"abc"}}' },
    });
    const { code, stdout, stderr } = await gwctl(['version', '--address', server.address]);
    expect([code, stdout.includes('proxy   9.1.0 (abc)'), stderr.includes('are different versions')]).toEqual([
      0,
      true,
      true,
    ]);
    const alone = await gwctl(['version', '--client', '-o', 'json']);
    expect(JSON.parse(alone.stdout)).toMatchObject({ server: null, skew: null });
    expect((await gwctl(['version', '--address', '127.0.0.1:1'])).code).toBe(4);
    expect((await gwctl(['version', '-p', '1'])).code).toBe(0);
  });
});

describe('checking and running a configuration', () => {
  test('validate: exit 0, findings exit 6, as text and as JSON', async () => {
    expect(await gwctl(['proxy', 'validate', '-f', '-'], { input: 'gateways: {}\n' })).toMatchObject({
      code: 0,
      stdout: 'Configuration is valid!\n',
    });
    const broken = await gwctl(['proxy', 'validate', '-f', '-'], { input: 'rotues: []\n' });
    expect([broken.code, broken.stdout.includes('<stdin>:1:1')]).toEqual([6, true]);
    const json = await gwctl(['proxy', 'validate', '-c', 'rotues: []', '-o', 'json']);
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([6, { valid: false, issues: [{ line: 1, column: 1 }] }]);
    expect((await gwctl(['proxy', 'validate', '-f', '/nonexistent.yaml'])).code).toBe(3);
  });

  test('schema prints JSON Schema', async () => {
    expect(JSON.parse((await gwctl(['schema'])).stdout)).toMatchObject({ type: 'object' });
  });

  test('run says what listens where and ends with 0 on SIGTERM', async () => {
    const config = `config:\n  adminAddr: unix:${folder}/admin.sock\n  statsAddr: "off"\n  readinessAddr: "off"\n  workerThreads: 1\n`;
    const child = startGwctl(['proxy', 'run', '-c', config]);
    const end = finished(child);
    await new Promise<void>((resolve) => {
      child.stderr.on('data', (text) => String(text).includes('admin on') && resolve());
      child.once('close', () => resolve());
    });
    const status = await gwctl(['config', 'status', '--address', `unix:${folder}/admin.sock`]);
    child.kill('SIGTERM');
    const { code, stderr } = await end;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('admin on unix:') });
    expect([status.code, status.stdout.includes('rejected  nothing')]).toEqual([0, true]);
  }, 20_000);

  test('run on a broken configuration starts nothing', async () => {
    const { code, stderr } = await gwctl(['proxy', 'run', '-c', 'rotues: []']);
    expect(code).not.toBe(0);
    expect(stderr).toContain('rotues');
  });
});
