/** How long gwctl takes to start, against a bare `node -e 0`: `node bench/cli-startup.ts [--rounds N] [--json FILE]`. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { median } from './measure.ts';

const GWCTL = path.join(import.meta.dirname, '..', 'bin', 'gwctl.js');
/** A dump with nothing in it: what is measured is the way to the table. */
const EMPTY_DUMP = JSON.stringify({
  services: [],
  workloads: [],
  binds: [],
  policies: [],
  backends: [],
  config: {},
  version: { version: '0.1.0' },
});

interface Start {
  readonly name: string;
  readonly args: readonly string[];
  /** Most times the bare start may be exceeded; undefined for the yardstick itself. */
  readonly limit: number | undefined;
}

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '15' }, json: { type: 'string' } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > 200) {
  console.error(`--rounds must be a whole number from 1 to 200, not ${values.rounds}`);
  process.exit(2);
}
if (!existsSync(GWCTL)) {
  console.error('bin/gwctl.js does not exist');
  process.exit(1);
}

const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-startup-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const dump = path.join(folder, 'dump.json');
writeFileSync(dump, EMPTY_DUMP);

const starts: readonly Start[] = [
  { name: 'node -e 0', args: ['-e', '0'], limit: undefined },
  { name: 'gwctl --version', args: [GWCTL, '--version'], limit: 3 },
  { name: 'gwctl --help', args: [GWCTL, '--help'], limit: 7 },
  { name: 'gwctl proxy config all --file', args: [GWCTL, 'proxy', 'config', 'all', '--file', dump], limit: 9 },
];

// The first start fills the compile cache and the disk's; it is not the one that a user meets every day.
for (const { args } of starts) time(args);
const times = new Map(starts.map((start) => [start, [] as number[]]));
for (let round = 0; round < rounds; round += 1) for (const start of starts) times.get(start)?.push(time(start.args).ms);

const bare = median([...(times.values().next().value ?? [])]);
const results = starts.map((start) => {
  const ms = median(times.get(start) ?? []);
  return { name: start.name, ms, ratio: ms / bare, limit: start.limit, exitCode: time(start.args).exitCode };
});
for (const { name, ms, ratio, limit, exitCode } of results) {
  const verdict = limit === undefined ? '' : `${ratio <= limit ? 'pass' : 'MISS'} (at most ${limit}×)`;
  const failed = exitCode === 0 ? '' : `  ended with code ${exitCode}`;
  console.log(
    `${name.padEnd(30)} ${ms.toFixed(1).padStart(7)} ms  ${ratio.toFixed(2).padStart(6)}×  ${verdict}${failed}`,
  );
}
if (values.json !== undefined)
  writeFileSync(values.json, `${JSON.stringify({ node: process.versions.node, rounds, results }, null, 2)}\n`);

function time(args: readonly string[]): { readonly ms: number; readonly exitCode: number | null } {
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore'], timeout: 20_000 });
  return { ms: performance.now() - begun, exitCode: status };
}
