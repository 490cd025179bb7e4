import { afterEach, describe, expect, test } from '@jest/globals';
import { goldenPath } from '../golden.ts';
import { encodedProfile } from './profile-bytes.ts';
import { FakeAdmin, type FakeHandler } from './fake-admin.ts';
import { gwctl } from './gwctl.ts';

const open: FakeAdmin[] = [];

async function admin(handlers: Readonly<Record<string, FakeHandler>>): Promise<FakeAdmin> {
  const server = await FakeAdmin.start(handlers);
  open.push(server);
  return server;
}

afterEach(async () => {
  for (const server of open.splice(0)) await server.stop();
});

describe('--quiet', () => {
  test('leaves out which proxy was taken, and prints the same answer', async () => {
    const server = await admin({ '/config_dump': { body: '{"backends":[]}' } });
    const words = ['config', 'backends', '-p', String(server.port)];
    const loud = await gwctl(words);
    const quiet = await gwctl([...words, '--quiet']);
    expect(loud.stderr).toContain('using the proxy on this machine');
    expect(quiet).toEqual({ code: 0, stdout: loud.stdout, stderr: '' });
    expect(await gwctl([...words, '-q'])).toEqual(quiet);
  });

  test('leaves out warnings', async () => {
    const server = await admin({ '/config_dump': { body: '{"version":{"version":"99.0.0"},"binds":[]}' } });
    const words = ['version', '--address', server.address];
    expect((await gwctl(words)).stderr).not.toBe('');
    expect((await gwctl([...words, '-q'])).stderr).toBe('');
  });

  test('leaves out progress and what a profile written to stdout sums up to', async () => {
    const server = await admin({ '/debug/pprof/heap': { body: encodedProfile() } });
    const words = ['profile', 'heap', '--address', server.address, '-o', '-'];
    expect((await gwctl(words)).stderr).toContain('taking a heap profile');
    expect(await gwctl([...words, '-q'])).toMatchObject({ code: 0, stderr: '' });
  });

  test('prints errors all the same', async () => {
    const { code, stderr } = await gwctl(['config', 'all', '-q', '--file', goldenPath('cli/none.json')]);
    expect([code, stderr.startsWith('Error: ')]).toEqual([3, true]);
  });
});
