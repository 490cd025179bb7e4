import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { bodyOf, headersOf, type BenchCase } from './cases.ts';
import { CORES, has, pinned } from './processes.ts';

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Latencies in microseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Answers that were not 2xx or 3xx, and connections that failed. */
  readonly errors: number;
}

interface LoadTool {
  readonly name: string;
  readonly run: (benchCase: BenchCase, port: number, seconds: number) => Promise<LoadResult>;
}

/** The tool that is there and speaks the case's protocol; undefined when none does. */
export function loadTool(benchCase: BenchCase, folder: string): LoadTool | undefined {
  if (!benchCase.http2 && has('wrk')) return { name: 'wrk', run: (...run) => wrk(folder, ...run) };
  if (has('h2load')) return { name: 'h2load', run: (...run) => h2load(folder, ...run) };
  if (!benchCase.http2) return { name: 'autocannon', run: autocannon };
  return undefined;
}

function urlOf(benchCase: BenchCase, port: number): string {
  return `${benchCase.tls ? 'https' : 'http'}://127.0.0.1:${port}${benchCase.path}`;
}

async function wrk(folder: string, benchCase: BenchCase, port: number, seconds: number): Promise<LoadResult> {
  const script = path.join(folder, `wrk-${benchCase.name}.lua`);
  const body = benchCase.bodyBytes > 0 ? `wrk.method = "POST"\nwrk.body = ${luaText(bodyOf(benchCase))}\n` : '';
  const headers = Object.entries(headersOf(benchCase))
    .map(([name, value]) => `wrk.headers[${luaText(name)}] = ${luaText(value)}\n`)
    .join('');
  const { pauseMs } = benchCase;
  const pause = pauseMs === undefined ? '' : `delay = function() return ${pauseMs} end\n`;
  writeFileSync(
    script,
    `${body}${headers}${pause}done = function(s, l)
  local e = s.errors
  io.write(string.format("result %d %d %d %d %d %d\\n", s.requests, s.duration, l:percentile(50), l:percentile(99), l:percentile(99.9),
    e.connect + e.read + e.write + e.status + e.timeout))
end\n`,
  );
  // wrk takes whole seconds only.
  const args = ['-t1', `-c${benchCase.connections}`, `-d${Math.max(1, Math.round(seconds))}s`, '-s', script];
  const output = await finish(['wrk', ...args, urlOf(benchCase, port)]);
  const numbers = /^result (\d+) (\d+) (\d+) (\d+) (\d+) (\d+)/m.exec(output)?.slice(1).map(Number);
  if (numbers === undefined) throw new Error(`wrk gave no result:\n${output}`);
  const [requests = 0, micros = 0, p50 = 0, p99 = 0, p999 = 0, errors = 0] = numbers;
  return { requests, seconds: micros / 1e6, p50, p99, p999, errors };
}

/** Printable ASCII: JSON escapes it as Lua does. */
function luaText(text: string): string {
  return JSON.stringify(text);
}

async function h2load(folder: string, benchCase: BenchCase, port: number, seconds: number): Promise<LoadResult> {
  const log = path.join(folder, 'h2load.log');
  const bodyFile = path.join(folder, 'h2load.body');
  rmSync(log, { force: true });
  writeFileSync(bodyFile, bodyOf(benchCase));
  const protocol = benchCase.http2 ? [`-m${benchCase.streams}`] : ['--h1'];
  const body = benchCase.bodyBytes > 0 ? ['-d', bodyFile] : [];
  const wholeSeconds = Math.max(1, Math.round(seconds));
  const args = [
    '-t1',
    `-c${benchCase.connections}`,
    `-D${wholeSeconds}`,
    `--log-file=${log}`,
    ...protocol,
    ...body,
    ...(benchCase.pauseMs === undefined ? [] : [`--rps=${1000 / benchCase.pauseMs}`]),
    ...headerWords(benchCase),
  ];
  const output = await finish(['h2load', ...args, urlOf(benchCase, port)]);
  const rows = readFileSync(log, 'utf8').trim().split('\n');
  const times: number[] = [];
  let errors = Number(/(\d+) errored/.exec(output)?.[1] ?? 0);
  for (const row of rows) {
    const [, status, micros] = row.split('\t').map(Number);
    if (micros === undefined || status === undefined) continue;
    times.push(micros);
    if (status < 200 || status > 399) errors += 1;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { requests: times.length, seconds: wholeSeconds, p50: at(0.5), p99: at(0.99), p999: at(0.999), errors };
}

async function autocannon(benchCase: BenchCase, port: number, seconds: number): Promise<LoadResult> {
  const script = path.join(import.meta.dirname, '..', 'node_modules', 'autocannon', 'autocannon.js');
  const body = benchCase.bodyBytes > 0 ? ['-m', 'POST', '-b', bodyOf(benchCase)] : [];
  const args = [
    '-j',
    '-n',
    '-c',
    String(benchCase.connections),
    '-d',
    String(Math.max(1, Math.round(seconds))),
    ...body,
    ...(benchCase.pauseMs === undefined ? [] : ['-r', String(1000 / benchCase.pauseMs)]),
    ...headerWords(benchCase),
  ];
  const output = await finish([process.execPath, script, ...args, urlOf(benchCase, port)], {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    NODE_NO_WARNINGS: '1',
  });
  // autocannon's own report; its latencies are in milliseconds.
  const report = JSON.parse(output.slice(output.indexOf('{'))) as {
    readonly requests: { readonly total: number };
    readonly duration: number;
    readonly latency: { readonly p50: number; readonly p99: number; readonly p99_9: number };
    readonly errors: number;
    readonly non2xx: number;
  };
  const { latency } = report;
  return {
    requests: report.requests.total,
    seconds: report.duration,
    p50: latency.p50 * 1000,
    p99: latency.p99 * 1000,
    p999: latency.p99_9 * 1000,
    errors: report.errors + report.non2xx,
  };
}

/** `-H` of h2load and autocannon. */
function headerWords(benchCase: BenchCase): string[] {
  return Object.entries(headersOf(benchCase)).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
}

/** Runs a command beside the upstream and gives what it printed. */
export function finish(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [program = '', ...args] = pinned(CORES.others, command);
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...environment },
      timeout: 120_000,
    });
    let output = '';
    let complaints = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints += text));
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`${command[0]} ended with ${signal ?? `code ${code}`}: ${complaints.trim().slice(-2000)}`));
    });
  });
}
