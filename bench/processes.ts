import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const READY_MS = 15_000;
const children = new Set<ChildProcess>();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));

export interface Server {
  readonly pid: number;
  readonly port: number;
  readonly stop: () => Promise<void>;
}

export interface Usage {
  readonly cpuSeconds: number;
  readonly rssBytes: number;
}

/** Whether a program can be started by its name. */
export function has(program: string): boolean {
  try {
    execFileSync('/bin/sh', ['-c', 'command -v "$0"', program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const CAN_PIN = process.platform === 'linux' && has('taskset');

/** Cores: the measured process has the first to itself when there are several, the upstream and the load share the others. */
export const CORES = {
  measured: CAN_PIN ? '0' : undefined,
  others: CAN_PIN ? (availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0') : undefined,
} as const;

export function pinned(core: string | undefined, command: readonly string[]): readonly string[] {
  return core === undefined ? command : ['taskset', '-c', core, ...command];
}

/** Starts a server that prints `listening PORT`, or that is known to listen on `port`, and waits until it answers. */
export async function startServer(command: readonly string[], port?: number): Promise<Server> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  const output = { text: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => (output.text = (output.text + text).slice(-4000)));
  }
  const exited = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? `code ${code}`}`));
  }).finally(() => children.delete(child));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const stopped = await Promise.race([exited, sleep(3000, 'late', { ref: false })]);
    if (stopped === 'late') child.kill('SIGKILL');
    await exited;
  };
  const gone = exited.then((reason) => {
    throw new Error(`it did not start: ${reason}; ${output.text.trim().replaceAll('\n', '; ').slice(-400)}`);
  });
  gone.catch(() => undefined);
  try {
    const ready = await Promise.race([waitUntilReady(output, port), gone]);
    return { pid: child.pid ?? 0, port: ready, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function waitUntilReady(output: { text: string }, port: number | undefined): Promise<number> {
  for (const deadline = Date.now() + READY_MS; Date.now() < deadline; await sleep(20)) {
    const known = port ?? Number(/^listening (\d+)/m.exec(output.text)?.[1] ?? 0);
    if (known > 0 && (await answers(known))) return known;
  }
  throw new Error(`no server within ${READY_MS / 1000} s\n${output.text.trim()}`);
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
}

/** A port that was free a moment ago, for servers that cannot tell which one they got. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const TICKS_PER_SECOND =
  process.platform === 'linux' ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 100;

/** Processor time and memory of a process with all its threads and descendants; undefined where there is no /proc. */
export function usageOf(pid: number): Usage | undefined {
  if (process.platform !== 'linux') return undefined;
  const stats = new Map<number, readonly string[]>();
  for (const entry of readdirSync('/proc')) if (/^\d+$/.test(entry)) readStat(Number(entry), stats);
  const family = [pid];
  for (let index = 0; index < family.length; index += 1) {
    for (const [other, fields] of stats) if (Number(fields[1]) === family[index]) family.push(other);
  }
  const ticks = family.reduce((sum, member) => sum + ticksOf(stats.get(member)), 0);
  return { cpuSeconds: ticks / TICKS_PER_SECOND, rssBytes: family.reduce((sum, member) => sum + rssOf(member), 0) };
}

/** The fields of /proc/PID/stat from the third on; the second, the name, may hold spaces and brackets. */
function readStat(pid: number, into: Map<number, readonly string[]>): void {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    into.set(pid, text.slice(text.lastIndexOf(')') + 2).split(' '));
  } catch {
    // The process ended while the list was read.
  }
}

/** utime and stime: fields 14 and 15 of proc_pid_stat(5). */
function ticksOf(fields: readonly string[] | undefined): number {
  return Number(fields?.[11] ?? 0) + Number(fields?.[12] ?? 0);
}

function rssOf(pid: number): number {
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
