import { readFileSync } from 'node:fs';

import { Exchange } from '../../../../../proxy/exchange/exchange.ts';
import { emptyBody } from '../../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../../proxy/exchange/headers.ts';
import { systemClock } from '../../../../../proxy/exchange/wait.ts';
import type { RpcMessage, RpcRequest } from '../../../../../proxy/mcp/message/message.ts';
import type {
  CallSink,
  Calling,
  Target,
  TargetCall,
  TargetConnection,
  TargetFailure,
} from '../../../../../proxy/mcp/targets/contract.ts';
import type { ProgramWatch } from '../../../../../proxy/mcp/targets/stdio/connection.ts';
import type { Spare } from '../../../../../proxy/mcp/targets/stdio/spare.ts';
import { Programs } from '../../../../../proxy/mcp/targets/stdio/programs.ts';
import { stdioTarget } from '../../../../../proxy/mcp/targets/stdio/target.ts';
import { LogFilter, Logger } from '../../../../../src/shared/log.ts';
import type { JsonObject } from '../../../../../src/shared/json.ts';
import { Secret } from '../../../../../src/shared/secret.ts';

/** A server in a few lines: `on(method, answer)` for requests, `send(message)` for anything. */
const PRELUDE = `
const handlers = {};
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const on = (method, work) => { handlers[method] = work; };
let rest = '';
const heard = [];
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) {
    const message = JSON.parse(line);
    heard.push(message);
    const work = handlers[message.method];
    if (work === undefined) continue;
    const result = work(message.params, message);
    if (result !== undefined && message.id !== undefined) send({ id: message.id, result });
  }
});
on('initialize', () => ({ protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } }));
on('echo', (params) => ({ params: params ?? null }));
on('heard', () => ({ heard }));
on('pid', () => ({ pid: process.pid }));
`;

export interface World {
  readonly programs: Programs;
  readonly log: string[];
  /** A conversation with a server that is this script, behind the prelude. */
  script(text: string, options?: { maxLineBytes?: number }): TargetConnection;
  run(command: string, args: readonly string[], options?: Options): TargetConnection;
  /** The same server, for several conversations. */
  target(text: string, options?: Options): Target;
  close(): Promise<void>;
}

export interface Options {
  readonly env?: Record<string, string>;
  readonly clearEnv?: boolean;
  readonly environment?: Record<string, string | undefined>;
  readonly maxLineBytes?: number | undefined;
  readonly spare?: Spare | undefined;
  readonly watch?: ProgramWatch | undefined;
}

export function world(max?: number): World {
  const log: string[] = [];
  const filter = LogFilter.parse('debug');
  if (typeof filter === 'string') throw new Error(filter);
  const logger = new Logger({ filter, format: 'text', write: (line) => log.push(line) }).scope('mcp');
  const programs = new Programs({ clock: systemClock, log: logger, max });
  const targetOf = (command: string, args: readonly string[], options: Options = {}): Target => {
    const { env = {}, clearEnv = false, environment = process.env, ...more } = options;
    const secrets = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, new Secret(value)]));
    const server = { kind: 'stdio', command, args, env: secrets, clearEnv } as const;
    return stdioTarget({
      name: 'one',
      server,
      environment,
      programs,
      clock: systemClock,
      log: logger,
      ...more,
    });
  };
  const run: World['run'] = (command, args, options) => targetOf(command, args, options).connect(null);
  const target: World['target'] = (text, options) =>
    targetOf(process.execPath, ['-e', PRELUDE + text], { environment: {}, ...options });
  return {
    programs,
    log,
    run,
    target,
    script: (text, options) => target(text, options).connect(null),
    close: async () => {
      await programs.close();
      if (programs.count > 0) throw new Error('programs are left');
    },
  };
}

export function targetCall(version: string | null = '2025-11-25', headers: Record<string, string> = {}): TargetCall {
  const request = {
    method: 'POST',
    scheme: 'http',
    authority: 'gw',
    target: '/mcp',
    version: 'HTTP/1.1',
    headers: new Headers(),
    body: emptyBody,
    upgrade: null,
  } as const;
  const connection = {
    id: 1,
    bind: 'bind/1',
    bindPort: 1,
    sourceAddress: '127.0.0.1',
    sourcePort: 1,
    rawAddress: '127.0.0.1',
    rawPort: 1,
    destinationAddress: '127.0.0.1',
    destinationPort: 1,
    tls: null,
  };
  const transport = {
    respond() {},
    informational() {},
    takeOver: () => null,
    onClientGone() {},
    closeAfterResponse() {},
  };
  const exchange = new Exchange({ ...request }, connection, transport, null);
  return { exchange, trace: null, headers: Headers.from(Object.entries(headers)), version };
}

/** What came for one call. */
export class Heard implements CallSink {
  readonly messages: RpcMessage[] = [];
  readonly end: Promise<TargetFailure | null>;
  ended = false;
  #resolve: (failure: TargetFailure | null) => void;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];

  constructor() {
    const { promise, resolve } = Promise.withResolvers<TargetFailure | null>();
    this.end = promise;
    this.#resolve = resolve;
  }

  /** Resolves when so many messages have come. */
  count(count: number): Promise<void> {
    if (this.messages.length >= count) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ count, resolve }));
  }

  onMessage(message: RpcMessage): void {
    if (this.ended) throw new Error('a message after the end');
    this.messages.push(message);
    for (const { count, resolve } of this.#waiting) if (this.messages.length >= count) resolve();
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.ended) throw new Error('ended twice');
    this.ended = true;
    this.#resolve(failure);
  }
}

let ids = 0;

export function request(method: string, params?: RpcRequest['params'], id?: string | number): RpcRequest {
  ids += 1;
  return { kind: 'request', id: id ?? ids, method, params };
}

export function ask(
  connection: TargetConnection,
  message: RpcRequest,
  call = targetCall(),
): Heard & { calling: Calling } {
  const heard = new Heard();
  return Object.assign(heard, { calling: connection.request(message, call, heard) });
}

/** The result of one request; throws what came instead. */
export async function result(
  connection: TargetConnection,
  message: RpcRequest,
  call = targetCall(),
): Promise<JsonObject> {
  const heard = ask(connection, message, call);
  const failure = await heard.end;
  const answer = heard.messages.at(-1);
  if (answer?.kind !== 'result') throw new Error(JSON.stringify(failure ?? answer));
  return answer.result;
}

/** The part of it at this path; throws where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let part = value;
  for (const step of path) {
    if (typeof part !== 'object' || part === null) throw new Error(`nothing at ${path.join('.')}`);
    part = Reflect.get(part, step);
  }
  return part;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const list = at(value, ...path);
  if (!Array.isArray(list)) throw new Error(`no list at ${path.join('.')}`);
  return list;
}

export const initialize = (version = '2025-11-25'): RpcRequest =>
  request('initialize', { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } });

/** A process that only waits for its parent to notice its end is not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** Waits until it holds; the test's own time limit is the only one. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}
