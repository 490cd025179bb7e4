/** Sessions with MCP servers: what a list of many tools costs, and how much memory open sessions hold. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { finish } from './load.ts';
import type { SessionLoad, SessionResult } from './mcp-client.ts';
import { median, type Pace } from './measure.ts';
import { CORES, freePort, pinned, startServer, usageOf, type Server } from './processes.ts';
import type { Target } from './report.ts';
import { engineCommand, engineSettings, type Surroundings } from './subjects.ts';

/** The name that `--case` knows these measurements by. */
export const SESSIONS = 'mcp-sessions';

const SERVERS = 10;
const MANY = 1000;
const LISTS_A_SECOND = 100;
const MIB = 1024 * 1024;

export interface SessionMeasurement {
  /** Milliseconds of processor time for one list of the tools of all servers, the median of the rounds. */
  readonly listCpuMs: number | undefined;
  /** Milliseconds that a client waits for it. */
  readonly listMs: number;
  readonly tools: number;
  /** Sessions with one server, each with its stream, and what they hold. */
  readonly open: number;
  readonly rssBytes: number | undefined;
}

export async function measureSessions(around: Surroundings, pace: Pace): Promise<SessionMeasurement> {
  return { ...(await measureLists(around, pace)), ...(await measureMemory(around, pace)) };
}

/** A session whose servers tell of changes, so that their lists are kept. */
async function measureLists(
  around: Surroundings,
  pace: Pace,
): Promise<Pick<SessionMeasurement, 'listCpuMs' | 'listMs' | 'tools'>> {
  const server = await start(around, SERVERS);
  try {
    const lists = LISTS_A_SECOND * pace.seconds;
    // Long enough for the compiler to be done.
    await open(server, { sessions: 1, lists: 2 * LISTS_A_SECOND, seconds: 0 });
    const rounds: { readonly cpu: number; readonly result: SessionResult }[] = [];
    for (let round = 0; round < pace.rounds; round += 1) {
      const before = usageOf(server.pid)?.cpuSeconds ?? 0;
      const result = await open(server, { sessions: 1, lists, seconds: 0 });
      const cpu = (usageOf(server.pid)?.cpuSeconds ?? 0) - before;
      rounds.push({ cpu: (cpu * 1000) / lists, result });
    }
    const cpu = median(rounds.map((one) => one.cpu));
    return {
      listCpuMs: cpu === 0 ? undefined : cpu,
      listMs: median(rounds.map(({ result }) => result.listMs)),
      tools: Math.min(...rounds.map(({ result }) => result.tools)),
    };
  } finally {
    await server.stop();
  }
}

async function measureMemory(
  around: Surroundings,
  { seconds }: Pace,
): Promise<Pick<SessionMeasurement, 'open' | 'rssBytes'>> {
  const server = await start(around, 1);
  try {
    let most: number | undefined;
    const sampling = setInterval(() => {
      const now = usageOf(server.pid)?.rssBytes;
      if (now !== undefined) most = Math.max(most ?? 0, now);
    }, 200);
    const result = await open(server, { sessions: MANY, lists: 0, seconds }).finally(() => clearInterval(sampling));
    return { open: result.open, rssBytes: most };
  } finally {
    await server.stop();
  }
}

async function start({ folder, upstreamPort }: Surroundings, servers: number): Promise<Server> {
  const port = await freePort();
  const mcp = { host: `http://127.0.0.1:${upstreamPort}/mcp` };
  const targets = Array.from({ length: servers }, (_, at) => ({ name: `server${at}`, mcp }));
  const routes = [{ name: 'mcp', gateways: 'bench', backends: [{ mcp: { targets } }] }];
  const file = path.join(folder, `gwctl-mcp-${servers}.yaml`);
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ ...engineSettings(), gateways: { bench: { port } }, routes }));
  return startServer(pinned(CORES.measured, engineCommand(file)), port);
}

async function open({ port }: Server, load: Omit<SessionLoad, 'port'>): Promise<SessionResult> {
  const client = path.join(import.meta.dirname, 'mcp-client.ts');
  const output = await finish(pinned(CORES.others, [process.execPath, client, JSON.stringify({ port, ...load })]));
  // `as`: what the client prints.
  return JSON.parse(output) as SessionResult;
}

export function sessionTable({ listCpuMs, listMs, tools, open: sessions, rssBytes }: SessionMeasurement): string {
  const cpu = listCpuMs === undefined ? '-' : `${listCpuMs.toFixed(2)}ms`;
  const held = rssBytes === undefined ? '-' : `${(rssBytes / MIB).toFixed(0)}M`;
  return [
    `${SESSIONS}: sessions with MCP servers`,
    `${tools} tools of ${SERVERS} servers  cpu ${cpu}  waited ${listMs.toFixed(2)}ms`,
    `${sessions} open sessions with their streams  RSS ${held}`,
  ].join('\n');
}

export function sessionTargets(measured: SessionMeasurement | undefined): readonly Target[] {
  const rssBytes = measured?.rssBytes;
  return [
    {
      target: `milliseconds of processor time for a list of 1,000 tools of ${SERVERS} servers`,
      limit: 5,
      reached: measured?.tools === 1000 ? measured.listCpuMs : undefined,
    },
    {
      target: `resident memory with ${MANY} open sessions with MCP servers, MiB`,
      limit: 300,
      reached: rssBytes === undefined || measured?.open !== MANY ? undefined : rssBytes / MIB,
    },
  ];
}
