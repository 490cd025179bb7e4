/**
 * Many clients and servers at once, of which nothing can be relied on, under a configuration that changes all the time. A
 * longer run: `GW_CHAOS_STEPS=500 GW_CHAOS_SEED=7`.
 */
import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { eventually } from './clients.ts';
import { type RunningGateway, startGateway } from './gateway.ts';
import { ChaosClient, dice, type Setting, TARGETS } from './mcp-chaos-client.ts';
import { type ChaosServer, DEEDS, startChaos } from './mcp-chaos-server.ts';
import { nothingLeft } from './wire.ts';

const STEPS = Number(process.env['GW_CHAOS_STEPS'] ?? 10);
const SEED = Number(process.env['GW_CHAOS_SEED'] ?? 1);
const CLIENTS = 50;
/** Of all clients together. */
const STEPS_PER_RELOAD = 60;
const STEPS_PER_RESTART = 150;

const PROGRAM = `${import.meta.dirname}/mcp-chaos-program.ts`;
const MARK = `chaos-${process.pid}`;
const LOCAL = 'adminAddr: "127.0.0.1:1", statsAddr: "127.0.0.1:1", readinessAddr: "127.0.0.1:1"';
const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Chaos', version: '1' },
  paths: {
    '/api': {
      get: {
        operationId: 'say',
        parameters: ['deed', 'tag'].map((name) => ({ name, in: 'query', schema: { type: 'string' } })),
        responses: {},
      },
    },
  },
};

let server: ChaosServer;
let gateway: RunningGateway;
beforeAll(async () => {
  server = await startChaos();
  gateway = await startGateway(config(0), { threads: 2 });
});
afterAll(() => server.close());

/** Rules change, a target comes and goes, and often nothing changes. */
function config(at: number): string {
  const here = `http://127.0.0.1:${server.port}`;
  const targets = [
    `{name: legacy, mcp: {host: "${here}/mcp"}}`,
    `{name: modern, mcp: {host: "${here}/modern"}}`,
    `{name: events, sse: {host: "${here}/sse"}}`,
    `{name: api, openapi: {host: "${here}", schema: '${JSON.stringify(DOCUMENT)}'}}`,
    ...(at % 5 === 4 ? [`{name: more, mcp: {host: "${here}/modern"}}`] : []),
  ];
  const rules = at % 5 === 2 ? 'mcpAuthorization: {rules: [\'mcp.tool.target != "api"\']}, ' : '';
  const policies = `{${rules}timeout: {requestTimeout: 5s}}`;
  const program = `{name: program, stdio: {cmd: "${process.execPath}", args: ["${PROGRAM}", "${MARK}"]}}`;
  const route = (path: string, all: readonly string[]): string =>
    `{matches: [{path: {pathPrefix: ${path}}}], policies: ${policies}, backends: [{mcp: {failureMode: failOpen, targets: [${all.join(', ')}]}}]}`;
  return `config: {${LOCAL}, mcp: {sessionTtl: 1s}}
binds:
- {port: 80, listeners: [{routes: [${route('/mcp', targets)}, ${route('/all', [...targets, program])}]}]}`;
}

/** A client of a vendor, which calls, and begins anew when it has lost its session. */
class VendorClient {
  readonly name: string;
  readonly #new: boolean;
  readonly #setting: Setting;
  readonly #random: () => number;
  #client: OldClient | NewClient | null = null;
  #next = 0;

  constructor(name: string, isNew: boolean, setting: Setting) {
    this.name = name;
    this.#new = isNew;
    this.#setting = setting;
    this.#random = dice(setting.seed);
  }

  async step(): Promise<void> {
    try {
      this.#client ??= await this.#connected();
      const target = TARGETS[Math.floor(this.#random() * TARGETS.length)] ?? 'legacy';
      const deed = DEEDS[Math.floor(this.#random() * (DEEDS.length - 1))] ?? 'answer';
      this.#next += 1;
      const tag = `${this.name}/${this.#next}`;
      const wish = { deed, tag };
      const params = { name: `${target}_say`, arguments: target === 'api' ? { query: wish } : wish };
      const result = await this.#client.callTool(params);
      if (!JSON.stringify(result.content).includes(tag)) this.#wrong(`${tag} got ${JSON.stringify(result)}`);
    } catch {
      await this.leave();
    }
  }

  async leave(): Promise<void> {
    await this.#client?.close().catch(() => {});
    this.#client = null;
  }

  async #connected(): Promise<OldClient | NewClient> {
    const url = new URL(`http://127.0.0.1:${this.#setting.port()}/mcp`);
    const about = { name: this.name, version: '1' };
    const onerror = ({ message }: Error): void => {
      if (message.includes('unknown message ID')) this.#wrong(message);
    };
    if (this.#new) {
      const mode = { mode: this.#random() < 0.5 ? ('auto' as const) : { pin: '2026-07-28' } };
      const client = new NewClient(about, { versionNegotiation: mode });
      Object.assign(client, { onerror });
      await client.connect(new NewTransport(url));
      return client;
    }
    const client = new OldClient(about);
    Object.assign(client, { onerror });
    await client.connect(new OldTransport(url));
    return client;
  }

  #wrong(what: string): void {
    this.#setting.violations.push(`${this.name}: ${what}`);
  }
}

test('whatever servers, clients and configurations do, every request has its own answer or none, and nothing stays', async () => {
  const violations: string[] = [];
  const counts = new Map<string, number>();
  const port = (): number => gateway.port(80);
  const clients = Array.from({ length: CLIENTS }, (_, at) => {
    const setting = { port, seed: SEED * 1000 + at, violations, counts };
    if (at % 5 === 4) return new VendorClient(`n${at}`, at % 10 === 4, setting);
    // A program for each session, or each request of the newest version, is more than a small machine can do for all.
    return new ChaosClient(`c${at}`, at % 4 === 3, { ...setting, path: at % 8 === 0 ? '/all' : '/mcp' });
  });
  let steps = 0;
  let reloads = 0;
  let reloading: Promise<unknown> = Promise.resolve();
  const live = async (client: ChaosClient | VendorClient): Promise<void> => {
    for (let step = 0; step < STEPS; step++) {
      await client.step();
      steps += 1;
      if (steps % STEPS_PER_RELOAD === 0) {
        reloading = reloaded(reloading, config((reloads += 1)));
      }
      if (steps % STEPS_PER_RESTART === 0) server.restart();
    }
  };
  await Promise.all(clients.map(live));
  await reloading;
  await Promise.all(clients.map((client) => client.leave()));
  if (process.env['GW_CHAOS_STEPS'] !== undefined) process.stderr.write(`${JSON.stringify([...counts])}\n`);
  expect(violations.slice(0, 5)).toEqual([]);
  expect(counts.get('200') ?? 0).toBeGreaterThan(steps / 4);
  expect(gateway.log.filter((line) => /unexpectedly|defect|unhandled|TypeError/i.test(line))).toEqual([]);
  await nothingLeft(gateway);
  await eventually('no session is left', async () => (await open()) === 0);
  await eventually('no program is left', () => programs() === 0);
  await gateway.close();
  await eventually('no server is connected', async () => (await server.connections()) === 0);
}, 600_000);

async function reloaded(before: Promise<unknown>, next: string): Promise<void> {
  await before;
  await gateway.reload(next);
}

/** Sessions, as the gateway tells. */
async function open(): Promise<number> {
  const dump = JSON.stringify(await (await fetch(`${gateway.admin}/config_dump`)).json());
  return [...dump.matchAll(/"sessions":(\d+)/g)].reduce((all, [, count]) => all + Number(count), 0);
}

/** As the system tells. */
function programs(): number {
  return readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(MARK)).length;
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
