import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { gwctl } from './gwctl.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gwctl-prices-'));
});
afterAll(() => rm(folder, { recursive: true }));

const list = JSON.stringify({
  openai: { models: { m: { cost: { input: 1 } } } },
  other: { models: { x: { cost: { input: 1 } } } },
});

describe('gwctl catalog', () => {
  test('import turns a list from stdin into a file that a configuration can use', async () => {
    const file = join(folder, 'prices.json');
    const made = await gwctl(['catalog', 'import', '-', '-o', file], { input: list });
    expect(made).toMatchObject({ code: 0, stdout: '' });
    expect(made.stderr).toContain('1 models of 1 providers, from models.dev');
    expect(made.stderr).toContain('left out: other');
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
      providers: { openai: { models: { m: { rates: { input: '1' } } } } },
    });
    const config = `config: {modelCatalog: [{file: ${file}}, {builtin: true}]}\ngateways: {default: {port: 80}}\n`;
    expect(await gwctl(['proxy', 'validate', '-f', '-'], { input: config })).toMatchObject({ code: 0 });
  });

  test('import says what it takes when it is given something else', async () => {
    const made = await gwctl(['catalog', 'import', '-'], { input: '{"a": 1}' });
    expect(made).toMatchObject({ code: 1, stdout: '' });
    expect(made.stderr).toContain('neither the list of models.dev nor that of LiteLLM');
  });

  test('builtin prints the prices that are shipped', async () => {
    const { code, stdout } = await gwctl(['catalog', 'builtin']);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).providers.openai.models['gpt-4o'].rates.input).toBe('2.50');
  });
});
