import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeAdmin } from './fake-admin.ts';
import { finished, gwctl, startGwctl } from './gwctl.ts';

const closers: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function admin(...args: Parameters<typeof FakeAdmin.start>): Promise<FakeAdmin> {
  const started = await FakeAdmin.start(...args);
  closers.push(() => started.stop());
  return started;
}

async function rawServer(onConnect: Parameters<typeof createServer>[1] & object): Promise<number> {
  const server: Server = createServer(onConnect);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe('wrong usage', () => {
  test.each([
    [['proxy', 'confg', 'all'], 'unknown command "confg" for "gwctl proxy"', 'gwctl proxy config'],
    [['config', 'bakends'], 'unknown command "bakends" for "gwctl config"', 'gwctl config backends'],
    [['trce'], 'unknown command "trce"', 'gwctl trace'],
    [['backends'], 'unknown command "backends"', 'gwctl proxy config backends'],
    [['config', 'all', '--loca'], 'unknown flag --loca', '--local'],
    [['config', 'all', '-o', 'jsn'], 'output format "jsn" is not supported: expected one of table, json, yaml', ''],
    [['config', 'all', '-p', '0'], 'invalid --admin-port 0: expected 1 to 65535', ''],
    [['config', 'all', '--timeout', '5'], '"5" is not a duration', ''],
    [['config', 'all', '--local', '--file', 'x'], 'only one of RESOURCE, --local, --address and --file', ''],
    [['config', 'all', 'gateway/x', '-n', 'ns'], 'not available in this version', ''],
    [['config', 'all', '-n', 'ns'], '--namespace needs a RESOURCE', ''],
    [['config', 'all', 'a', 'b'], 'unexpected argument "b"', ''],
    [['lint', 'gateway.yaml'], 'unexpected argument "gateway.yaml"', 'gwctl lint -f gateway.yaml'],
    [['mcp', 'call', '--local'], 'as `gwctl mcp tools` has it.\nTry this: gwctl mcp call -h', ''],
    [['config', 'all', '--address', 'a b'], '"a b" is not an address', ''],
    [['config', 'all', '--', 'x'], 'takes nothing behind --', ''],
    [['--color', 'never', 'config', 'all'], 'the command comes first', ''],
    [['completion', 'tcsh'], 'unknown shell "tcsh"', ''],
    [['profile', 'cpu', '--seconds', '301'], 'invalid --seconds 301: must be between 1 and 300', ''],
    [['profile', 'cpu', '-o', 'json'], '-o is the file of the profile', ''],
    [['proxy', 'log', '--level', 'loud'], 'unknown level "loud"', ''],
    [['proxy', 'log', '--set', 'x:debug'], 'invalid --set value "x:debug": expected module=level', ''],
    [['proxy', 'run', '-f', 'a', '-c', 'b'], 'only one of --file and --config', ''],
    [['proxy', 'validate'], 'there is nothing to check', ''],
  ])('%j exits 2 and says so', async (words, message, hint) => {
    const { code, stdout, stderr } = await gwctl(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`Error: ${message}`.slice(0, 7));
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).toMatch(/Code: GW_[A-Z_]+\n$/);
  });

  test('piped stdin is not taken for a missing argument', async () => {
    const { code, stderr } = await gwctl(['config', 'all', '-p', '1'], { input: 'gateway/x\n' });
    expect(code).toBe(4);
    expect(stderr).not.toContain('gateway/x');
  });
});

describe('a target that is not as it should be', () => {
  test('nobody listens: exit 4 and a way out', async () => {
    const { code, stderr } = await gwctl(['config', 'all', '--address', '127.0.0.1:1']);
    expect(code).toBe(4);
    expect(stderr).toContain('cannot reach 127.0.0.1:1: nothing listens there');
    expect(stderr).toContain('Try this:');
  });

  test('errors are JSON under -o json, on stderr, with stdout left empty', async () => {
    const { code, stdout, stderr } = await gwctl(['config', 'all', '--address', '127.0.0.1:1', '-o', 'json']);
    expect([code, stdout]).toEqual([4, '']);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'GW_UNREACHABLE', exitCode: 4 } });
  });

  test('HTML, broken JSON, other JSON and other paths are no admin interface: exit 4', async () => {
    const replies = [
      { headers: { 'content-type': 'text/html' }, body: '<html>' },
      { body: '{"binds":' },
      { status: 404, body: 'nope' },
    ];
    for (const reply of replies) {
      const server = await admin({ '/config_dump': reply });
      const { code, stderr } = await gwctl(['config', 'all', '--address', server.address]);
      expect([code, stderr.includes('GW_ADMIN_PROTOCOL')]).toEqual([4, true]);
    }
  });

  test('something that does not speak HTTP: exit 4', async () => {
    const port = await rawServer((socket) => {
      socket.on('error', () => {});
      socket.end('SSH-2.0-OpenSSH_9.6\r\n');
    });
    const { code, stderr } = await gwctl(['config', 'all', '--address', `127.0.0.1:${port}`]);
    expect(code).toBe(4);
    expect(stderr).toContain('something else than HTTP');
  });

  test('a connection that is closed without an answer: exit 4', async () => {
    const port = await rawServer((socket) => socket.destroy());
    expect((await gwctl(['config', 'all', '--address', `127.0.0.1:${port}`])).code).toBe(4);
  });

  test('JSON that is no dump: a clear error', async () => {
    const server = await admin({ '/config_dump': { body: '{"hello":1}' } });
    const { code, stderr } = await gwctl(['config', 'all', '--address', server.address]);
    expect(code).toBe(1);
    expect(stderr).toContain('not a configuration dump');
  });

  test('401 and 403: exit 5 with the text of the server', async () => {
    const server = await admin({ '/config_dump': { status: 403, body: 'the Host header is not local\n' } });
    const { code, stderr } = await gwctl(['config', 'all', '--address', server.address]);
    expect(code).toBe(5);
    expect(stderr).toContain('/config_dump returned 403 Forbidden: the Host header is not local');
  });

  test('no answer in time: exit 124', async () => {
    const server = await admin({ '/config_dump': () => {} });
    const { code, stderr } = await gwctl(['config', 'all', '--address', server.address, '--timeout', '200ms']);
    expect(code).toBe(124);
    expect(stderr).toContain('did not answer in time');
  });

  test('Ctrl-C while waiting: exit 130 and no error text', async () => {
    const asked = Promise.withResolvers<void>();
    const server = await admin({ '/config_dump': () => asked.resolve() });
    const child = startGwctl(['config', 'all', '--address', server.address]);
    const end = finished(child);
    await asked.promise;
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect([code, stderr]).toEqual([130, '']);
  });

  test('a unix socket works, and one that is missing is told of', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const path = join(folder, 'admin.sock');
    await admin({ '/config_dump': { body: '{"binds":[]}' } }, path);
    expect((await gwctl(['config', 'all', '--address', `unix:${path}`])).stdout).toContain('holds  nothing');
    const missing = await gwctl(['config', 'all', '--address', `unix:${folder}/no.sock`]);
    expect([missing.code, missing.stderr.includes('there is no such socket')]).toEqual([4, true]);
  });
});

describe('files', () => {
  test.each([
    ['', 'stdin is empty'],
    ['not json', 'stdin is not JSON'],
    ['{"binds": [', 'stdin is not JSON'],
    ['[]', 'not a configuration dump'],
    ['null', 'not a configuration dump'],
  ])('a dump that reads %j is refused', async (input, message) => {
    const { code, stderr } = await gwctl(['config', 'all', '-f', '-'], { input });
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });

  test('a missing file exits 3, a directory 1', async () => {
    expect((await gwctl(['config', 'all', '-f', '/nonexistent/dump.json'])).code).toBe(3);
    expect((await gwctl(['config', 'all', '-f', tmpdir()])).code).toBe(1);
  });

  test('names in a dump cannot steer the terminal', async () => {
    const input = JSON.stringify({
      backends: [{ backend: { host: { name: '\u001B]0;owned\u0007\u202Ex', target: 'a\nb' } } }],
    });
    const { stdout } = await gwctl(['config', 'backends', '--all', '-f', '-'], { input });
    expect(stdout).not.toMatch(/[\u001B\u0007\u202E]/);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
  });

  test('a reader that goes away early is no failure', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gwctl-'));
    closers.push(() => rmSync(folder, { recursive: true }));
    const backends = Array.from({ length: 20_000 }, (_, at) => ({
      backend: { host: { name: `backend-${at}`, target: 'x' } },
    }));
    writeFileSync(join(folder, 'dump.json'), JSON.stringify({ backends }));
    const child = startGwctl(['config', 'all', '-f', join(folder, 'dump.json')]);
    let stderr = '';
    child.stderr.on('data', (text) => (stderr += String(text)));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = await once(child, 'close');
    expect([code, stderr]).toEqual([0, '']);
  });
});

describe('an answer that cannot be written', () => {
  test('on a full disk is an error without a stack', async () => {
    if (process.platform !== 'linux') return;
    const { code, stderr } = await gwctl(['version', '--client'], { redirect: '>/dev/full' });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^Error: cannot write the answer: ENOSPC[^\n]*\nCode: GW_WRITE\n$/),
    ]);
  });

  test('keeps the exit code when not even the error can be written', async () => {
    if (process.platform !== 'linux') return;
    expect((await gwctl(['nope'], { redirect: '2>/dev/full' })).code).toBe(2);
  });
});
