import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from '@jest/globals';

import { lateLibrary } from '../../src/shared/late-library.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Imports and exports that are there at run time. */
const STATEMENT = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)';/gm;

/** Packages that a thread loads before it knows its configuration, each with the files that lead to it. */
function packagesOf(...entries: readonly string[]): Record<string, string> {
  const ways = new Map(entries.map((entry) => [path.join(root, entry), entry]));
  const packages: Record<string, string> = {};
  // Grows while it is walked.
  for (const [file, way] of ways) {
    for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(STATEMENT)) {
      if (specifier.startsWith('node:')) continue;
      const next = path.resolve(path.dirname(file), specifier);
      if (!specifier.startsWith('.')) packages[specifier] ??= way;
      else if (!ways.has(next)) ways.set(next, `${way} > ${path.relative(root, next)}`);
    }
  }
  return packages;
}

test('a data thread loads no library that only some configurations need', () => {
  const packages = packagesOf('proxy/supervisor/data-thread-main.ts', 'proxy/engine/data-plane.ts');
  expect(packages).toEqual({ 'ipaddr.js': expect.any(String), 'lru-cache': expect.any(String) });
});

test('the control thread loads what reads a configuration, and no other library', () => {
  const packages = packagesOf('proxy/index.ts', 'src/config/load/load-config.ts');
  expect(packages).toEqual({ yaml: expect.any(String), zod: expect.any(String) });
});

test('a late library is the same each time', () => {
  expect(lateLibrary('re2js').RE2JS.compile('a+').matches('aaa')).toBe(true);
  expect(lateLibrary('re2js')).toBe(lateLibrary('re2js'));
});
