// Every check of the repository, in one run: types, lint, format, tests. With arguments, only Jest, with these arguments.
// The last line is `N passed, N failed`; each of types, lint and format counts as one test.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { run } from './child.js';
import { inRoot, progress } from './paths.js';

/** For a run that hangs: a machine with much else to do takes twice the usual time, and its results should not be lost. */
const JEST_LIMIT_MS = 25 * 60_000;
/** How long Jest may take to end after it wrote its results; longer means that a test left something open. */
const JEST_EXIT_MS = 20_000;

/** Tests start hundreds of threads and processes, each of which would compile all modules anew: half of the whole time. */
const COMPILED = inRoot('node_modules/.cache/compiled');

const filters = process.argv.slice(2);
const counts = { passed: 0, failed: 0 };

if (filters.length === 0) {
  await check('types of the tests', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'test']);
  await check('lint', ['node_modules/oxlint/bin/oxlint']);
  await check('format', ['node_modules/oxfmt/bin/oxfmt', '--check']);
}
await tests();

process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;

async function check(name, args) {
  progress(`checking ${name}`);
  const code = await run(process.execPath, args);
  count(code === 0, name);
}

function count(passed, name) {
  if (passed) counts.passed += 1;
  else counts.failed += 1;
  if (!passed) process.stdout.write(`failed: ${name}\n`);
}

async function tests() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'gwctl-test-'));
  const results = path.join(folder, 'results.json');
  try {
    const { code, stopped } = await jest(results);
    if (stopped !== undefined) count(false, `jest ${stopped}`);
    if (existsSync(results)) countResults(JSON.parse(readFileSync(results, 'utf8')));
    else count(false, `jest ended with code ${code} and no results`);
    if (code !== 0 && counts.failed === 0) count(false, `jest ended with code ${code}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function countResults(results) {
  counts.passed += results.numPassedTests;
  // A file that does not load has no tests to fail, so it counts as one.
  counts.failed += results.numFailedTests + results.numRuntimeErrorTestSuites;
  for (const test of results.testResults.flatMap((file) => file.assertionResults)) {
    if (test.status === 'pending' || test.status === 'todo') process.stdout.write(`skipped: ${test.fullName}\n`);
  }
}

/** Runs Jest and stops it when it does not come to an end by itself. */
function jest(results) {
  const args = ['--experimental-vm-modules', '--no-warnings', inRoot('node_modules/jest/bin/jest.js')];
  const workers = Math.max(2, os.availableParallelism() - 1);
  const child = spawn(
    process.execPath,
    [...args, '--ci', `--maxWorkers=${workers}`, '--json', `--outputFile=${results}`, ...filters],
    { cwd: inRoot(), stdio: ['ignore', 2, 2], env: { ...process.env, NODE_COMPILE_CACHE: COMPILED } },
  );
  const forward = () => child.kill('SIGTERM');
  process.on('SIGTERM', forward);
  return new Promise((resolve, reject) => {
    const started = Date.now();
    let finishedAt;
    let stopped;
    const watch = setInterval(() => {
      if (finishedAt === undefined && existsSync(results)) finishedAt = Date.now();
      if (finishedAt !== undefined && Date.now() - finishedAt > JEST_EXIT_MS)
        stopped = 'did not exit: a test left something open';
      if (Date.now() - started > JEST_LIMIT_MS) stopped = `took longer than ${JEST_LIMIT_MS / 60_000} minutes`;
      if (stopped !== undefined) child.kill('SIGKILL');
    }, 500);
    const settle = () => {
      clearInterval(watch);
      process.off('SIGTERM', forward);
    };
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('close', (code, signal) => {
      settle();
      resolve({ code: code ?? signal, stopped });
    });
  });
}
