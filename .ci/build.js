import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { run } from './child.js';
import { inRoot, progress } from './paths.js';

/** The folders that are compiled; `include` of tsconfig.json names the same. */
const SOURCES = ['commands', 'ui', 'proxy', 'src'];
const INPUTS = ['package.json', 'package-lock.json', 'tsconfig.json', '.ci/build.js', '.ci/manifest.js'];
const STAMP = inRoot('dist', '.build-stamp');

/** Compiles the sources to dist/ when any of them changed since the last good build. */
export async function build(node) {
  const stamp = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, 'utf8') === stamp) return;
  progress('building');
  rmSync(STAMP, { force: true });
  for (const folder of SOURCES) prune(folder);
  await step(node, ['node_modules/typescript/bin/tsc', '-p', '.'], 'the type checker found errors');
  if (existsSync(inRoot('.ci/manifest.js')))
    await step(node, ['.ci/manifest.js'], 'the command manifest was not written');
  writeFileSync(STAMP, stamp);
}

async function step(node, args, failure) {
  const code = await run(node, args, { stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new Error(`build failed: ${failure}`);
}

/** Changes whenever a source is added, removed, renamed, resized or touched. */
function fingerprint() {
  const hash = createHash('sha256').update(process.versions.node);
  for (const file of [...INPUTS, ...SOURCES.flatMap(filesUnder)]) {
    const stat = statSync(inRoot(file), { throwIfNoEntry: false });
    if (stat !== undefined) hash.update(`${file}\0${stat.mtimeMs}\0${stat.size}\0`);
  }
  return hash.digest('hex');
}

function filesUnder(folder) {
  if (!existsSync(inRoot(folder))) return [];
  return readdirSync(inRoot(folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(path.relative(inRoot(), entry.parentPath ?? entry.path), entry.name))
    .sort();
}

/** Removes compiled files whose source is gone, so that a deleted command does not live on. */
function prune(folder) {
  for (const file of filesUnder(path.join('dist', folder))) {
    if (!file.endsWith('.js')) continue;
    const source = path.relative('dist', file).slice(0, -'.js'.length);
    if (!existsSync(inRoot(`${source}.ts`)) && !existsSync(inRoot(`${source}.tsx`))) rmSync(inRoot(file));
  }
}
