import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { expect, test } from '@jest/globals';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

/** Prints the addresses of the modules that a module loads. */
const LOADED = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({
  load(url, context, next) {
    loaded.push(url);
    return next(url, context);
  },
});
await import(process.argv[1]);
console.log(JSON.stringify(loaded));
process.exit();
`;

async function loadedByDataThread(): Promise<readonly string[]> {
  const module = join(root, 'proxy/engine/data-plane.ts');
  const node = join(root, 'node_modules/.bin/node');
  const { stdout } = await run(node, ['--input-type=module', '--eval', LOADED, module], { timeout: 30_000 });
  // `as`: what the program above prints.
  return JSON.parse(stdout) as string[];
}

test('a data thread loads neither HTTP clients nor libraries of tokens: each would cost every thread megabytes', async () => {
  const urls = await loadedByDataThread();
  const packages = urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? []);
  expect(packages).toContain('ipaddr.js');
  expect(packages.filter((name) => /^(undici|jose|oidc|google|@azure|@aws|@grpc)/.test(name))).toEqual([]);
});

test('a data thread loads what serves language models with the first configuration that has some', async () => {
  const urls = await loadedByDataThread();
  expect(urls.filter((url) => url.endsWith('proxy/engine/run.ts'))).toHaveLength(1);
  expect(
    urls.filter((url) => /proxy\/llm\/(?:call|service|translations|formats\/|providers|guards)/.test(url)),
  ).toEqual([]);
});
