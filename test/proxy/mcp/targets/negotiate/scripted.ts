import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import type { Target } from '../../../../../proxy/mcp/targets/contract.ts';
import { negotiating } from '../../../../../proxy/mcp/targets/negotiate/target.ts';
import { streamableTarget } from '../../../../../proxy/mcp/targets/streamable/target.ts';
import type { JsonObject } from '../../../../../src/shared/json.ts';
import type { Rig } from '../../../backends/rig.ts';
import type { ManualClock } from '../../../exchange/build.ts';
import { poolsCaller } from '../caller.ts';

export interface Heard {
  readonly id?: number | string;
  readonly method: string;
  readonly params?: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

export type Answer = (to: Heard, response: ServerResponse) => void;

/** A server that a test writes, method by method, and may write anew; what it has no words for it takes with 202 or refuses with 404. */
export class ScriptedServer {
  readonly heard: Heard[] = [];
  readonly methods: string[] = [];
  answers: Record<string, Answer>;
  readonly #rig: Rig;
  readonly #clock: ManualClock;

  constructor(rig: Rig, clock: ManualClock, answers: Record<string, Answer>) {
    this.#rig = rig;
    this.#clock = clock;
    this.answers = answers;
  }

  async target(sessions = true): Promise<Target> {
    const server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        const parsed: JsonObject = body === '' ? {} : JSON.parse(body);
        const method = typeof parsed['method'] === 'string' ? parsed['method'] : String(request.method);
        const heard = { ...parsed, method, headers: request.headers };
        this.heard.push(heard);
        this.methods.push(method);
        const answer = this.answers[method] ?? this.answers['*'];
        if (answer !== undefined) answer(heard, response);
        else response.writeHead(method.startsWith('notifications/') ? 202 : 404).end();
      });
    });
    const port = await this.#rig.listen(server);
    const clock = this.#clock;
    const caller = poolsCaller(this.#rig.pools(), () => port);
    const inner = streamableTarget({ name: 'one', path: '/mcp', caller, limitBytes: 1_000_000, clock });
    return negotiating(inner, { identity: { name: 'gw', version: '9' }, answers: sessions, clock });
  }
}

export function result(value: object, headers: Record<string, string> = {}): Answer {
  return ({ id }, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: value }));
  };
}

export function error(code: number, status = 200): Answer {
  return ({ id }, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: 'no' } }));
  };
}
