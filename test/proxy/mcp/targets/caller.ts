/** Calls targets the way the engine does, without its policies: over the upstream pools. */
import type { PoolSet } from '../../../../proxy/backends/pools.ts';
import { BufferedBody, emptyBody } from '../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { RequestId, RpcMessage, RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import type {
  CallSink,
  Calling,
  TargetCall,
  TargetConnection,
  TargetFailure,
} from '../../../../proxy/mcp/targets/contract.ts';
import type { HttpAsk, HttpCaller } from '../../../../proxy/mcp/targets/http-caller.ts';
import { isJsonObject, type JsonObject } from '../../../../src/shared/json.ts';
import { originOf } from '../../backends/rig.ts';
import { untraced } from '../../exchange/build.ts';

export interface NotingCaller extends HttpCaller {
  readonly asks: HttpAsk[];
}

export function poolsCaller(pools: PoolSet, port: () => number): NotingCaller {
  const asks: HttpAsk[] = [];
  return {
    asks,
    send(ask) {
      asks.push({ ...ask, headers: ask.headers.clone() });
      const { method, target, headers, body } = ask;
      const authority = `127.0.0.1:${port()}`;
      const request = {
        method,
        scheme: 'http',
        authority,
        target,
        headers,
        body: body === null ? emptyBody : new BufferedBody(body),
        upgrade: null,
      } as const;
      const call = pools.send(originOf(port()), request);
      const outcome = call.response.then(
        (response) => ({ kind: 'answer', response, pinned: response.peer, origin: `http://${authority}` }) as const,
        (error: Error): TargetFailure => ({ kind: 'broken', message: error.message }),
      );
      return { outcome, cancel: () => call.cancel() };
    },
  };
}

export function callOf(version: string | null, headers: [string, string][] = []): TargetCall {
  return { exchange: untraced(), trace: null, headers: Headers.from(headers), version };
}

export function requestOf(id: RequestId, method: string, params?: JsonObject): RpcRequest {
  return { kind: 'request', id, method, params };
}

/** Keeps what comes for one call. */
export class Waiting implements CallSink {
  readonly messages: RpcMessage[] = [];
  readonly #ended = Promise.withResolvers<TargetFailure | null>();
  readonly #heard: (() => void)[] = [];
  ends = 0;

  get ended(): Promise<TargetFailure | null> {
    return this.#ended.promise;
  }

  onMessage(message: RpcMessage): void {
    if (this.ends > 0) throw new Error('a message behind the end');
    this.messages.push(message);
    for (const listener of this.#heard.splice(0)) listener();
  }

  onEnd(failure: TargetFailure | null): void {
    this.ends += 1;
    this.#ended.resolve(failure);
  }

  /** Waits for a message of the method. */
  async heard(method: string): Promise<RpcMessage> {
    for (;;) {
      const found = this.messages.find((each) => 'method' in each && each.method === method);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => this.#heard.push(resolve));
    }
  }
}

export interface Answered {
  readonly result: JsonObject | null;
  readonly error: { code: number; message: string } | null;
  readonly failure: TargetFailure | null;
  readonly before: readonly RpcMessage[];
}

/** Asks and waits for the end. */
export async function asked(connection: TargetConnection, message: RpcRequest, call: TargetCall): Promise<Answered> {
  const { waiting } = begun(connection, message, call);
  const failure = await waiting.ended;
  const last = waiting.messages.at(-1);
  const result = last?.kind === 'result' ? last.result : null;
  const error = last?.kind === 'error' ? last.error : null;
  return { result, error, failure, before: last === undefined ? [] : waiting.messages.slice(0, -1) };
}

export function begun(
  connection: TargetConnection,
  message: RpcRequest,
  call: TargetCall,
): { calling: Calling; waiting: Waiting } {
  const waiting = new Waiting();
  return { calling: connection.request(message, call, waiting), waiting };
}

export const initializeParams = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'a test', version: '1' },
};

export function modernParams(params: JsonObject = {}, capabilities: JsonObject = {}): JsonObject {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'a test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    },
  };
}

/** The text of the first block of a tool's result. */
export function textOf(result: JsonObject | null): string {
  const content = result?.['content'];
  const [first] = Array.isArray(content) ? content : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return typeof text === 'string' ? text : '';
}

export function names(result: JsonObject | null, list: string): string[] {
  const items = result?.[list];
  return Array.isArray(items) ? items.map((item) => (isJsonObject(item) ? String(item['name']) : '')) : [];
}
