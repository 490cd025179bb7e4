import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { ConfigError, loadConfig, renderIssues } from '../../src/config/index.ts';

/**
 * Pairs of files in test/golden/config: `x.yaml` and what it becomes, `x.ir.json` or `x.errors.txt`.
 * Write them anew with UPDATE_GOLDEN=1 and review the difference like code.
 */
const directory = fileURLToPath(new URL('../golden/config/', import.meta.url));
const update = process.env['UPDATE_GOLDEN'] === '1';
const env = { PORT: '4000', ONE: 'one', EMPTY: '', HOME: '/home/user', HOST_AND_PORT: 'upstream:80' };

async function outcome(name: string): Promise<{ readonly file: string; readonly text: string }> {
  const text = readFileSync(`${directory}${name}.yaml`, 'utf8');
  try {
    const loaded = await loadConfig(
      { kind: 'text', text, name: `${name}.yaml` },
      { env, directory, cpus: 2, now: new Date('2030-01-01T00:00:00Z') },
    );
    const files = loaded.files.map((file) => file.replace(directory, ''));
    const view = {
      files,
      warnings: renderIssues(loaded.warnings, text).replaceAll(directory, '').split('\n'),
      config: loaded.config,
    };
    return { file: `${name}.ir.json`, text: `${JSON.stringify(view, readable, 2)}\n` };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { file: `${name}.errors.txt`, text: `${error.message.replaceAll(directory, '')}\n` };
  }
}

/** Bytes as text, PEM as its first line, paths without the directory of the checkout. */
function readable(key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: new TextDecoder().decode(value) };
  if (key === 'pem' && typeof value === 'string') return value.split('\n', 1)[0];
  return typeof value === 'string' ? value.replaceAll(directory, '') : value;
}

describe('golden configurations', () => {
  const names = readdirSync(directory)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length));

  test.each(names)('%s.yaml becomes what its pair says', async (name) => {
    const { file, text } = await outcome(name);
    if (update) {
      for (const other of [`${name}.ir.json`, `${name}.errors.txt`])
        if (existsSync(directory + other)) rmSync(directory + other);
      writeFileSync(directory + file, text);
    }
    expect(text).toBe(readFileSync(directory + file, 'utf8'));
  });
});
