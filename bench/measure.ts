import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { bodyOf, headersOf, type BenchCase } from './cases.ts';
import { loadTool } from './load.ts';
import type { LoadResult } from './load.ts';
import { usageOf } from './processes.ts';
import type { Server } from './processes.ts';
import type { Subject, Surroundings } from './subjects.ts';

export interface Measurement {
  readonly case: string;
  readonly subject: string;
  readonly tool: string;
  /** Medians over the rounds. Microseconds of processor time per request; undefined where there is no /proc. */
  readonly cpuMicros: number | undefined;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  readonly idleRssBytes: number | undefined;
  /** After all rounds. */
  readonly rssBytes: number | undefined;
  /** Sum over the rounds. */
  readonly errors: number;
}

export interface Skipped {
  readonly case: string;
  readonly subject: string;
  readonly reason: string;
}

export interface Pace {
  readonly seconds: number;
  readonly rounds: number;
}

interface Running {
  readonly subject: Subject;
  readonly server: Server;
  /** As this subject wants it. */
  readonly asked: BenchCase;
  readonly idleRssBytes: number | undefined;
  readonly rounds: { readonly load: LoadResult; readonly cpuSeconds: number | undefined }[];
}

const SETTLE_MS = 400;
/** Long enough for the compiler of a JavaScript proxy to be done. */
const WARM_UP_SECONDS = 2;

/** Measures one case on all subjects: all are started, warmed up, then take turns, so that a slow moment of the machine hits each. */
export async function measureCase(
  benchCase: BenchCase,
  subjects: readonly Subject[],
  around: Surroundings,
  pace: Pace,
): Promise<readonly (Measurement | Skipped)[]> {
  const skipped: Skipped[] = [];
  const skip = (subject: Subject, reason: string): void =>
    void skipped.push({ case: benchCase.name, subject: subject.name, reason });
  const tool = loadTool(benchCase, around.folder);
  const reason =
    tool === undefined
      ? 'needs h2load'
      : benchCase.tls && around.certificate === undefined
        ? 'needs openssl'
        : undefined;
  if (tool === undefined || reason !== undefined) {
    for (const subject of subjects) skip(subject, reason ?? '');
    return skipped;
  }
  const running: Running[] = [];
  try {
    for (const subject of subjects) {
      const missing = subject.missing(benchCase);
      if (missing !== undefined) {
        skip(subject, missing);
        continue;
      }
      try {
        running.push(await begin(subject, benchCase, around));
      } catch (error) {
        skip(subject, error instanceof Error ? error.message : String(error));
      }
    }
    for (const { server, asked } of running) {
      // Without pauses: the compiler counts calls, not seconds.
      const { pauseMs: _pauseMs, ...busy } = asked;
      await tool.run(busy, server.port, WARM_UP_SECONDS);
    }
    for (let round = 0; round < pace.rounds; round += 1) {
      for (const { server, asked, rounds } of running) {
        const before = usageOf(server.pid)?.cpuSeconds;
        const load = await tool.run(asked, server.port, pace.seconds);
        const after = usageOf(server.pid)?.cpuSeconds;
        rounds.push({ load, cpuSeconds: before === undefined || after === undefined ? undefined : after - before });
      }
    }
    return [...running.map((one) => summarise(one, benchCase, tool.name)), ...skipped];
  } finally {
    await Promise.all(running.map(({ server }) => server.stop()));
  }
}

async function begin(subject: Subject, benchCase: BenchCase, around: Surroundings): Promise<Running> {
  const asked = subject.asked?.(benchCase, around) ?? benchCase;
  const server = await subject.start(benchCase, around);
  try {
    await sleep(SETTLE_MS);
    const idleRssBytes = usageOf(server.pid)?.rssBytes;
    await checkAnswer(asked, server.port);
    return { subject, server, asked, idleRssBytes, rounds: [] };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const LEAST_BYTES: Readonly<Record<string, number>> = {
  download: 1024 * 1024,
  stream: 200 * 40,
  'llm-stream': 200 * 100,
};

/** A proxy that answers something else than the upstream's body would be measured doing something else. */
function checkAnswer(benchCase: BenchCase, port: number): Promise<void> {
  const url = `${benchCase.tls ? 'https' : 'http'}://127.0.0.1:${port}${benchCase.path}`;
  const method = benchCase.bodyBytes > 0 ? 'POST' : 'GET';
  const options = { method, headers: { ...headersOf(benchCase) }, agent: false, timeout: 5000 };
  return new Promise((resolve, reject) => {
    const call = benchCase.tls ? https(url, { ...options, rejectUnauthorized: false }) : http(url, options);
    call.once('timeout', () => call.destroy(new Error(`no answer from ${url} within 5 s`)));
    call.once('error', reject);
    call.once('response', (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.once('error', reject);
      response.once('end', () => {
        const good = response.statusCode === 200 && bytes >= (LEAST_BYTES[benchCase.name] ?? 50);
        if (good) resolve();
        else reject(new Error(`${url} answered ${response.statusCode} with ${bytes} bytes`));
      });
    });
    call.end(bodyOf(benchCase));
  });
}

function summarise(running: Running, benchCase: BenchCase, tool: string): Measurement {
  const { subject, server, idleRssBytes, rounds } = running;
  const costs = rounds.flatMap(({ load, cpuSeconds }) =>
    cpuSeconds === undefined || load.requests === 0 ? [] : [(cpuSeconds * 1e6) / load.requests],
  );
  return {
    case: benchCase.name,
    subject: subject.name,
    tool,
    cpuMicros: costs.length === 0 ? undefined : median(costs),
    requestsPerSecond: median(rounds.map(({ load }) => load.requests / load.seconds)),
    p50: median(rounds.map(({ load }) => load.p50)),
    p99: median(rounds.map(({ load }) => load.p99)),
    p999: median(rounds.map(({ load }) => load.p999)),
    idleRssBytes,
    rssBytes: usageOf(server.pid)?.rssBytes,
    errors: rounds.reduce((sum, { load }) => sum + load.errors, 0),
  };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
