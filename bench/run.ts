/** What a request costs here and in other proxies: `npm run bench -- --help`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { CASES, type BenchCase } from './cases.ts';
import { celTable, celTargets, measureCel } from './cel.ts';
import { measureStreams, STREAMS, streamTable, streamTargets } from './llm-streams.ts';
import { measureCase } from './measure.ts';
import { measureSessions, SESSIONS, sessionTable, sessionTargets } from './mcp-sessions.ts';
import type { Measurement, Pace, Skipped } from './measure.ts';
import { CORES } from './processes.ts';
import { caseTable, targetLines, targets } from './report.ts';
import { makeCertificate, startUpstream, SUBJECTS, type Subject, type Surroundings } from './subjects.ts';

/** The case that sends no requests: expressions are evaluated by themselves. */
const EXPRESSIONS = 'cel';

const HELP = `npm run bench -- [options]
  --case NAMES      of ${[...CASES.map((one) => one.name), STREAMS, SESSIONS, EXPRESSIONS].join(', ')}; separated by commas (default: all)
  --subject NAMES   of ${SUBJECTS.map((one) => one.name).join(', ')} (default: all)
  --seconds N       length of one measurement, whole seconds (default 2)
  --rounds N        measurements of each subject, in turns (default 3)
  --json FILE       also write the results as JSON`;

const { values } = parseArgs({
  options: {
    case: { type: 'string' },
    subject: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    json: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) console.log(HELP);
else await run();

async function run(): Promise<void> {
  const names = values.case?.split(',').map((name) => name.trim());
  const ofRequests = names?.filter((name) => ![EXPRESSIONS, STREAMS, SESSIONS].includes(name));
  const cases = names !== undefined && ofRequests?.length === 0 ? [] : chosen('case', CASES, ofRequests?.join(','));
  const subjects = chosen('subject', SUBJECTS, values.subject);
  const pace = { seconds: count('seconds', values.seconds), rounds: count('rounds', values.rounds) };
  const folder = mkdtempSync(path.join(tmpdir(), 'gwctl-bench-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const pinning =
    CORES.measured === undefined
      ? 'not pinned'
      : `measured on core ${CORES.measured}, load and upstream on ${CORES.others}`;
  const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}, Node ${process.versions.node}, ${pinning}`;
  console.log(`${machine}\n`);
  const expressions = names === undefined || names.includes(EXPRESSIONS) ? await measureCel(pace) : [];
  if (expressions.length > 0) console.log(`${celTable(expressions)}\n`);
  const results = cases.length === 0 ? [] : await measureRequests(cases, subjects, { folder, pace });
  const wanted = (name: string): boolean => names === undefined || names.includes(name);
  const streams = wanted(STREAMS) ? await withUpstream(folder, (around) => measureStreams(around, pace)) : [];
  if (streams.length > 0) console.log(`${streamTable(streams)}\n`);
  const sessions = wanted(SESSIONS) ? await withUpstream(folder, (around) => measureSessions(around, pace)) : undefined;
  if (sessions !== undefined) console.log(`${sessionTable(sessions)}\n`);
  const ofOthers = [...streamTargets(streams), ...sessionTargets(sessions), ...celTargets(expressions)];
  const reached = [...targets(results), ...ofOthers];
  console.log(targetLines(reached));
  if (values.json !== undefined) {
    const written = { machine, pace, results, streams, sessions, expressions, targets: reached };
    writeFileSync(values.json, `${JSON.stringify(written, null, 2)}\n`);
  }
}

async function withUpstream<T>(folder: string, measure: (around: Surroundings) => Promise<T>): Promise<T> {
  const upstream = await startUpstream(CORES.others);
  try {
    return await measure({ folder, upstreamPort: upstream.port, certificate: undefined });
  } finally {
    await upstream.stop();
  }
}

async function measureRequests(
  cases: readonly BenchCase[],
  subjects: readonly Subject[],
  { folder, pace }: { readonly folder: string; readonly pace: Pace },
): Promise<readonly (Measurement | Skipped)[]> {
  const upstream = await startUpstream(CORES.others);
  const results: (Measurement | Skipped)[] = [];
  try {
    const around = { folder, upstreamPort: upstream.port, certificate: makeCertificate(folder) };
    for (const benchCase of cases) {
      const measured = await measureCase(benchCase, subjects, around, pace);
      results.push(...measured);
      console.log(`${caseTable(benchCase, measured)}\n`);
    }
  } finally {
    await upstream.stop();
  }
  return results;
}

function chosen<T extends { readonly name: string }>(
  option: string,
  all: readonly T[],
  given: string | undefined,
): readonly T[] {
  if (given === undefined) return all;
  return given.split(',').map((name) => {
    const found = all.find((one) => one.name === name.trim());
    if (found === undefined) fail(`--${option} ${name} is none of ${all.map((one) => one.name).join(', ')}`);
    return found;
  });
}

function count(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 600)
    fail(`--${option} must be a whole number from 1 to 600, not ${text}`);
  return value;
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
