import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeNewFile } from '../../../ui/terminal/write-file.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gwctl-ui-'));
});
afterEach(async () => rm(directory, { recursive: true }));

test('never replaces an existing file', async () => {
  const first = await writeNewFile(directory, 'trace.har', 'one');
  const second = await writeNewFile(directory, 'trace.har', 'two');
  expect([path.basename(first), path.basename(second)]).toEqual(['trace.har', 'trace-2.har']);
  expect(await readFile(first, 'utf8')).toBe('one');
});

test('leaves no temporary file and only its owner can read it', async () => {
  const file = await writeNewFile(directory, 'trace.jsonl', 'x');
  expect(await readdir(directory)).toEqual(['trace.jsonl']);
  expect((await stat(file)).mode & 0o077).toBe(0);
});

test('fails with the cause when the directory is missing', async () => {
  await expect(writeNewFile(path.join(directory, 'none'), 'trace.har', 'x')).rejects.toThrow('ENOENT');
});
