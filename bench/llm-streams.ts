/** Many streams of language models at once: how long the first text takes, and how much memory they hold. */
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { CASES, headersOf, type BenchCase } from './cases.ts';
import { chatRequest, pacedModel } from './llm.ts';
import { finish, loadTool } from './load.ts';
import { median, type Pace } from './measure.ts';
import { CORES, usageOf, type Server } from './processes.ts';
import type { Target } from './report.ts';
import { startUpstream, SUBJECTS, type Subject, type Surroundings } from './subjects.ts';
import type { StreamLoad, StreamResult } from './stream-client.ts';

/** The name that `--case` knows these measurements by. */
export const STREAMS = 'llm-streams';

/** What clients ask for a text, once in this time. */
const TEXT_EVERY_MS = 100;
const FEW = 200;
const MANY = 1000;
const MIB = 1024 * 1024;
const MEASURED = ['gwctl-1', 'gwctl', 'portkey'];

export interface StreamMeasurement {
  readonly subject: string;
  /** Microseconds from the request to the first text at 200 streams, the median of the rounds. */
  readonly firstText: number;
  /** What 1,000 streams hold, at most. */
  readonly rssBytes: number | undefined;
  readonly errors: number;
}

interface Running {
  readonly name: string;
  readonly server: Server;
  readonly asked: BenchCase;
  readonly firsts: number[];
  errors: number;
}

/** The service itself (`direct`), then what stands before it. Subjects take turns. */
export async function measureStreams(around: Surroundings, pace: Pace): Promise<readonly StreamMeasurement[]> {
  const benchCase = CASES.find(({ name }) => name === 'llm-stream');
  if (benchCase === undefined) return [];
  const running: Running[] = [];
  try {
    const direct = await startUpstream(CORES.others);
    running.push({ name: 'direct', server: direct, asked: benchCase, firsts: [], errors: 0 });
    const proxies = MEASURED.flatMap((name) => SUBJECTS.filter((one) => one.name === name));
    for (const subject of proxies) {
      if (subject.missing(benchCase) === undefined) running.push(await begin(subject, benchCase, around));
    }
    // Long enough for the compiler of a JavaScript proxy to be done.
    const tool = loadTool(benchCase, around.folder);
    for (const { server, asked } of running) await tool?.run(asked, server.port, 2);
    for (let round = 0; round < pace.rounds; round += 1) {
      for (const one of running) {
        const { firstText, errors } = await run(one, FEW, pace.seconds);
        one.firsts.push(firstText);
        one.errors += errors;
      }
    }
    const results: StreamMeasurement[] = [];
    for (const one of running) {
      const rssBytes = await heldBy(one, pace.seconds);
      results.push({ subject: one.name, firstText: median(one.firsts), rssBytes, errors: one.errors });
    }
    return results;
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
}

async function begin(subject: Subject, benchCase: BenchCase, around: Surroundings): Promise<Running> {
  const server = await subject.start(benchCase, around);
  return {
    name: subject.name,
    server,
    asked: subject.asked?.(benchCase, around) ?? benchCase,
    firsts: [],
    errors: 0,
  };
}

async function heldBy(one: Running, seconds: number): Promise<number | undefined> {
  let most: number | undefined;
  const over = new AbortController();
  const sampling = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      const now = usageOf(one.server.pid)?.rssBytes;
      if (now !== undefined) most = Math.max(most ?? 0, now);
      await sleep(200);
    }
  })();
  one.errors += (await run(one, MANY, seconds)).errors;
  over.abort();
  await sampling;
  return most;
}

async function run({ server, asked }: Running, streams: number, seconds: number): Promise<StreamResult> {
  const load: StreamLoad = {
    port: server.port,
    path: asked.path,
    body: chatRequest({ stream: true, model: pacedModel(TEXT_EVERY_MS) }),
    headers: headersOf(asked),
    streams,
    seconds,
  };
  const client = path.join(import.meta.dirname, 'stream-client.ts');
  const output = await finish([process.execPath, client, JSON.stringify(load)]);
  // `as`: what the client of streams prints.
  return JSON.parse(output) as StreamResult;
}

export function streamTable(results: readonly StreamMeasurement[]): string {
  const lines = results.map(({ subject, firstText, rssBytes, errors }) => {
    const held = rssBytes === undefined ? '-' : `${(rssBytes / MIB).toFixed(0)}M`;
    return `${subject.padEnd(8)}  first text ${(firstText / 1000).toFixed(2)}ms  RSS ${held}  errors ${errors}`;
  });
  return [`${STREAMS}: first text at ${FEW} streams at once, memory at ${MANY}`, ...lines].join('\n');
}

export function streamTargets(results: readonly StreamMeasurement[]): readonly Target[] {
  const of = (name: string): StreamMeasurement | undefined => results.find(({ subject }) => subject === name);
  const [through, direct] = [of('gwctl'), of('direct')];
  const rssBytes = through?.rssBytes;
  return [
    {
      target: `milliseconds that the gateway adds to the first text, ${FEW} translated streams at once`,
      limit: 1,
      reached:
        through === undefined || direct === undefined ? undefined : (through.firstText - direct.firstText) / 1000,
    },
    {
      target: `resident memory with ${MANY} translated streams at once, MiB`,
      limit: 400,
      reached: rssBytes === undefined ? undefined : rssBytes / MIB,
    },
  ];
}
