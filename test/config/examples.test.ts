import { readFileSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../src/config/index.ts';

const directory = fileURLToPath(new URL('../../examples/', import.meta.url));
const certificates = fileURLToPath(new URL('../golden/config/tls/', import.meta.url));
const env = { OIDC_COOKIE_SECRET: '0'.repeat(64) };
const now = new Date('2030-01-01T00:00:00Z');

/** The certificates that the examples tell how to make are replaced by those of the tests. */
async function readFile(path: string): Promise<Uint8Array> {
  if (!path.includes('/certs/')) return readFileSync(path);
  return readFileSync(path.endsWith('.key.pem') ? `${certificates}a.key.pem` : `${certificates}a.pem`);
}

describe('the examples', () => {
  // What a configuration refers to may be YAML as well: a document of OpenAPI says so in its first line.
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(
    (name) =>
      name.endsWith('.yaml') &&
      !name.startsWith('policies/') &&
      !readFileSync(directory + name, 'utf8').startsWith('openapi:'),
  );

  test.each(names)('%s loads without errors and warnings', async (name) => {
    const loaded = await loadConfig({ kind: 'file', path: directory + name }, { env, readFile, now });
    expect(loaded.warnings).toEqual([]);
    expect(loaded.config.binds.length).toBeGreaterThan(0);
  });

  test.each(names)('%s names the schema for editors', (name) => {
    expect(readFileSync(directory + name, 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.\.\/\.\.\/schema\/gwctl\.schema\.json\n/,
    );
  });
});
