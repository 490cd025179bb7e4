/**
 * Whether memory stays flat: mixed load on the engine for some minutes, resident memory sampled all the while.
 * `node bench/soak.ts [--minutes 10] [--subject gwctl] [--json FILE]`; ends with code 1 when memory grows.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import type { BenchCase } from './cases.ts';
import { loadTool } from './load.ts';
import { median } from './measure.ts';
import { CORES, usageOf } from './processes.ts';
import { startUpstream, SUBJECTS } from './subjects.ts';

const MIX = ['small', 'post', 'stream', 'download'] as const;
const TURN_SECONDS = 5;
const SAMPLE_MS = 1000;
const MIB = 1024 * 1024;
/** Memory of the last quarter may exceed that of the second by this share: the heap's own ups and downs. */
const GROWTH_ALLOWED = 0.1;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    subject: { type: 'string', default: 'gwctl' },
    json: { type: 'string' },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 120)) fail(`--minutes must be a number up to 120, not ${values.minutes}`);
const subject =
  SUBJECTS.find((one) => one.name === values.subject) ??
  fail(`--subject must be one of ${SUBJECTS.map((one) => one.name).join(', ')}`);
const [first = fail('no case'), ...others] = MIX.flatMap((name) => CASES.filter((one) => one.name === name));
const missing = subject.missing(first);
if (missing !== undefined) fail(missing);

const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const upstream = await startUpstream(CORES.others);
const server = await subject.start(first, { folder, upstreamPort: upstream.port, certificate: undefined });
if (usageOf(server.pid) === undefined) fail('memory can be read on Linux only');

const begun = Date.now();
const samples: { readonly seconds: number; readonly rssBytes: number }[] = [];
const sampling = setInterval(sample, SAMPLE_MS);
const totals = { requests: 0, errors: 0 };
try {
  while (Date.now() - begun < minutes * 60_000) for (const benchCase of [first, ...others]) await turn(benchCase);
} finally {
  clearInterval(sampling);
}
sample();
await server.stop();
await upstream.stop();
report();

async function turn(benchCase: BenchCase): Promise<void> {
  const tool = loadTool(benchCase, folder) ?? fail('no load tool');
  const seconds = Math.max(1, Math.min(TURN_SECONDS, Math.round((minutes * 60) / (2 * MIX.length))));
  const load = await tool.run(benchCase, server.port, seconds);
  totals.requests += load.requests;
  totals.errors += load.errors;
}

function sample(): void {
  const rssBytes = usageOf(server.pid)?.rssBytes ?? 0;
  samples.push({ seconds: (Date.now() - begun) / 1000, rssBytes });
}

function report(): void {
  const quarter = (index: number): number => {
    const from = Math.floor((samples.length * index) / 4);
    const part = samples.slice(from, Math.max(from + 1, Math.floor((samples.length * (index + 1)) / 4)));
    return median(part.map((one) => one.rssBytes)) / MIB;
  };
  const quarters = [quarter(0), quarter(1), quarter(2), quarter(3)] as const;
  const highest = Math.max(...samples.map((one) => one.rssBytes)) / MIB;
  const growth = quarters[3] / quarters[1] - 1;
  const flat = growth <= GROWTH_ALLOWED;
  console.log(`${totals.requests} requests, ${totals.errors} errors in ${minutes} min of ${MIX.join(', ')}`);
  console.log(
    `resident memory by quarter: ${quarters.map((mib) => `${mib.toFixed(0)}M`).join(', ')}; highest ${highest.toFixed(0)}M`,
  );
  console.log(
    `${flat ? 'pass' : 'MISS'}: ${(growth * 100).toFixed(1)} % from the second quarter to the last (at most ${GROWTH_ALLOWED * 100} %)`,
  );
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ minutes, totals, quarters, growth, samples }, null, 2)}\n`);
  process.exitCode = flat ? 0 : 1;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
