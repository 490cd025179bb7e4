import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { jsonSchema } from '../../../src/config/index.ts';

/** The published schema. Write it anew with UPDATE_GOLDEN=1. */
const file = fileURLToPath(new URL('../../../schema/gwctl.schema.json', import.meta.url));

describe('the published JSON Schema', () => {
  test('is the one that the loader uses', async () => {
    const text = `${JSON.stringify(await jsonSchema(), null, 1)}\n`;
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text);
    expect(existsSync(file)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('describes keys that are not built yet and says so', async () => {
    const text = JSON.stringify(await jsonSchema());
    expect(text).toContain('Not built in this release: refused when the file is loaded.');
    expect(text).toContain('oauthTokenExchange');
  });

  test('gives every shared part a name of its own', async () => {
    expect(JSON.stringify(await jsonSchema())).not.toContain('__schema');
  });

  test('describes every key of the top level', async () => {
    const schema = (await jsonSchema()) as { readonly properties: Readonly<Record<string, object>> };
    expect(Object.keys(schema.properties)).toEqual([
      'config',
      'gateways',
      'routes',
      'tcpRoutes',
      'binds',
      'routeGroups',
      'backends',
      'policies',
      'frontendPolicies',
      'llm',
      'mcp',
      'ui',
      'services',
      'workloads',
    ]);
  });
});
