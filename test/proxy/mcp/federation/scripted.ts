import { Federation } from '../../../../proxy/mcp/federation/federation.ts';
import type { FederationOptions } from '../../../../proxy/mcp/federation/plan.ts';
import type { FederatedSession } from '../../../../proxy/mcp/federation/session.ts';
import type { RpcMessage, RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import type { ClientCall } from '../../../../proxy/mcp/session/contract.ts';
import type { CallSink, Calling, Target, TargetCall, TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import type { JsonObject } from '../../../../src/shared/json.ts';
import { untraced } from '../../exchange/build.ts';

/** A call as its target sees it. */
export interface Seen {
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly sink: CallSink;
  cancelled: boolean;
  paused: boolean;
  /** The target has answered, or said that it will not. */
  ended: boolean;
  answer(result: JsonObject): void;
  error(code: number, message: string): void;
  fail(failure: TargetFailure): void;
  notify(method: string, params?: JsonObject): void;
}

export type Script = (seen: Seen) => void;

/** A target that does what a test says. */
export class ScriptedTarget implements Target {
  readonly name: string;
  readonly transport = 'streamable';
  readonly seen: Seen[] = [];
  readonly posted: RpcMessage[] = [];
  readonly streams: Seen[] = [];
  closed = 0;
  /** What the target says to posts. */
  postFailure: TargetFailure | null = null;
  onStream: Script = () => {};
  #script: Script;

  constructor(name: string, script: Script = () => {}) {
    this.name = name;
    this.#script = script;
  }

  /** Calls that came, by method. */
  methods(): string[] {
    return this.seen.map(({ message }) => message.method);
  }

  connect() {
    return {
      state: { session: `s-${this.name}` },
      request: (message: RpcRequest, call: TargetCall, sink: CallSink): Calling => {
        const seen = new Call(message, call, sink);
        this.seen.push(seen);
        this.#script(seen);
        return seen;
      },
      post: async (message: RpcMessage) => {
        this.posted.push(message);
        return this.postFailure;
      },
      listen: (call: TargetCall, sink: CallSink): Calling => {
        const seen = new Call({ kind: 'request', id: 0, method: 'GET', params: undefined }, call, sink);
        this.streams.push(seen);
        this.onStream(seen);
        return seen;
      },
      close: async () => {
        this.closed++;
        return null;
      },
      leave: () => {},
    };
  }
}

class Call implements Seen, Calling {
  readonly message: RpcRequest;
  readonly call: TargetCall;
  readonly sink: CallSink;
  cancelled = false;
  paused = false;
  ended = false;

  constructor(message: RpcRequest, call: TargetCall, sink: CallSink) {
    this.message = message;
    this.call = call;
    this.sink = {
      onMessage: (said) => {
        this.ended ||= said.kind === 'result' || said.kind === 'error';
        sink.onMessage(said);
      },
      onEnd: (failure) => {
        this.ended = true;
        sink.onEnd(failure);
      },
    };
  }

  cancel(): void {
    this.cancelled = true;
  }

  pause(): void {
    this.paused = true;
  }

  resume(): void {
    this.paused = false;
  }

  answer(result: JsonObject): void {
    this.sink.onMessage({ kind: 'result', id: this.message.id, result });
    this.sink.onEnd(null);
  }

  error(code: number, message: string): void {
    this.sink.onMessage({ kind: 'error', id: this.message.id, error: { code, message } });
    this.sink.onEnd(null);
  }

  fail(failure: TargetFailure): void {
    this.sink.onEnd(failure);
  }

  notify(method: string, params?: JsonObject): void {
    this.sink.onMessage({ kind: 'notification', method, params });
  }
}

/** What a client got for one request. */
export class Client implements CallSink {
  readonly messages: RpcMessage[] = [];
  failure: TargetFailure | null | undefined = undefined;
  readonly #ended = Promise.withResolvers<this>();

  onMessage(message: RpcMessage): void {
    if (this.failure !== undefined) throw new Error('a message came after the end');
    this.messages.push(message);
  }

  onEnd(failure: TargetFailure | null): void {
    if (this.failure !== undefined) throw new Error('it ended twice');
    this.failure = failure;
    this.#ended.resolve(this);
  }

  get ended(): Promise<this> {
    return this.#ended.promise;
  }

  get last(): RpcMessage | undefined {
    return this.messages.at(-1);
  }

  /** The result, or what stands in its place, as a test writes it. */
  get result(): unknown {
    const { last } = this;
    if (last?.kind === 'result') return last.result;
    if (last?.kind === 'error') return last.error;
    return this.failure?.kind === 'denied' ? this.failure.error : this.failure;
  }
}

export type Setup = Partial<Omit<FederationOptions, 'targets' | 'backend'>> & Partial<FederationOptions['backend']>;

export function federation(targets: readonly Target[], setup: Setup = {}): Federation {
  const { prefixMode = 'conditional', failureMode = 'failClosed', stateful = true, ...rest } = setup;
  return new Federation({
    backend: { prefixMode, failureMode, stateful },
    targets,
    rules: { allows: null, list: null },
    guards: null,
    gateway: { name: 'gw', version: '1' },
    cursorKey: null,
    ...rest,
  });
}

export function session(targets: readonly Target[], setup: Setup = {}): FederatedSession {
  const opened = federation(targets, setup).open({ id: 'the-session' });
  if ('status' in opened) throw new Error(opened.message);
  return opened;
}

export function call(parts: Partial<ClientCall> = {}): ClientCall {
  return { exchange: untraced(), era: 'legacy', version: null, ...parts };
}

/** Sends a request, and returns what comes of it. */
export function ask(on: FederatedSession, method: string, params?: JsonObject, parts: Partial<ClientCall> = {}) {
  const client = new Client();
  const calling = on.request({ kind: 'request', id: 7, method, params }, call(parts), client);
  return { client, calling };
}

/** As `ask`, to the end. */
export async function answered(on: FederatedSession, method: string, params?: JsonObject, parts?: Partial<ClientCall>) {
  const { client } = ask(on, method, params, parts);
  return (await client.ended).result;
}
