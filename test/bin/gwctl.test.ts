import { beforeAll, describe, expect, test } from '@jest/globals';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldenPath } from '../golden.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bin = join(root, 'bin/gwctl.js');
const cache = mkdtempSync(join(tmpdir(), 'gwctl-cache-'));

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function run(words: readonly string[], nodeFlags: readonly string[] = []): Promise<Finished> {
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', HOME: cache, XDG_CACHE_HOME: cache };
    execFile(process.execPath, [...nodeFlags, bin, ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
}

/** A module that writes to stderr when one of the packages is loaded. */
function reporting(packages: string): string {
  const source = `import module from 'node:module';
    module.registerHooks({ load(url, context, next) {
      if (/node_modules\\/(${packages})\\//.test(url)) process.stderr.write('LOADED ' + url + '\\n');
      return next(url, context);
    } });`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}

beforeAll(() => {
  // `npm test` builds first; a single test file may be run on an older build or none.
  if (!existsSync(join(root, 'dist/commands/_base/process.js')))
    execFileSync(process.execPath, [join(root, '.ci/pinned.js'), '--build-only']);
  if (!existsSync(join(root, 'oclif.manifest.json'))) execFileSync(process.execPath, [join(root, '.ci/manifest.js')]);
}, 60_000);

describe('bin/gwctl.js', () => {
  test('--version is that of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(await run(['--version'])).toEqual({ code: 0, stdout: `gwctl ${version}\n`, stderr: '' });
  });

  test('the built commands run', async () => {
    const { code, stdout } = await run(['config', 'listeners', '--file', goldenPath('cli/dump.json')]);
    expect([code, stdout.startsWith('ADDRESS')]).toEqual([0, true]);
    expect((await run(['nope'])).code).toBe(2);
  });

  test('the manifest lists the commands that exist', async () => {
    const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
      commands: Record<string, unknown>;
    };
    expect(Object.keys(commands)).toEqual(
      expect.arrayContaining(['proxy:config:all', 'proxy:trace', 'version', 'help:exit-codes']),
    );
    expect(Object.keys(commands).filter((id) => id.startsWith('_base'))).toEqual([]);
  });

  test('completion is made without loading oclif', async () => {
    const { stdout, stderr } = await run(['completion', 'bash'], ['--import', reporting('@oclif')]);
    expect([stdout.includes('complete -o default -F _gwctl gwctl'), stderr]).toEqual([true, '']);
  });

  test.each([
    [['--help']],
    [['config', 'all', '--help']],
    [['config', 'backends', '--file', goldenPath('cli/dump.json')]],
  ])('%j loads no react, no ink, no undici', async (words) => {
    const { code, stderr } = await run(words, ['--import', reporting('react|ink|undici|yaml|zod')]);
    expect([code, stderr]).toEqual([0, '']);
  });
});
