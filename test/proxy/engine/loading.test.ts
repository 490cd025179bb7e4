import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Prints the packages that a module loads. */
const PACKAGES = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({
  load(url, context, next) {
    const name = /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
    if (name !== undefined) loaded.add(name);
    return next(url, context);
  },
});
await import(process.argv[1]);
console.log(JSON.stringify([...loaded]));
process.exit();
`;

test('a data thread loads neither HTTP clients nor libraries of tokens: each would cost every thread megabytes', async () => {
  const module = join(root, 'proxy/engine/data-plane.ts');
  const node = join(root, 'node_modules/.bin/node');
  const { stdout } = await run(node, ['--input-type=module', '--eval', PACKAGES, module], { timeout: 30_000 });
  // `as`: what the program above prints.
  const packages = JSON.parse(stdout) as string[];
  expect(packages).toContain('ipaddr.js');
  expect(packages.filter((name) => /^(undici|jose|oidc|google|@azure|@aws|@grpc)/.test(name))).toEqual([]);
});
