import type { McpKind } from '../../../src/admin/protocol/trace-event.ts';
import type { JsonObject } from '../../../src/shared/json.ts';
import { isJsonObject } from '../../../src/shared/json.ts';
import type { McpFacts } from '../../exchange/mcp-facts.ts';
import type { RpcAnswer, RpcFailure, RpcMessage, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import { errorOf } from '../targets/errors.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import { MessageTrace } from '../trace/message-trace.ts';
import type { ClientCall, McpSession } from './contract.ts';

/** Of what several targets have said together. */
const MAX_RECORDED_BYTES = 2 * 1024 * 1024;

/** A session whose messages are noted where expressions, logs and metrics read. */
export class FollowedSession implements McpSession {
  readonly #session: McpSession;

  constructor(session: McpSession) {
    this.#session = session;
  }

  get id(): string | null {
    return this.#session.id;
  }

  hold(): () => void {
    return this.#session.hold?.() ?? (() => {});
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    const { trace } = call.exchange;
    if (trace === null) return this.#request(message, call, sink);
    const seen = this.#seen(trace, { kind: 'request', message, call });
    return seen.calling(this.#request(message, call, seen.sink(sink)));
  }

  #request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    const facts = this.#note(message, call);
    if (facts === null) return this.#session.request(message, call, sink);
    if (message.method === 'tools/call') facts.arguments = objectIn(message.params, 'arguments');
    return this.#session.request(message, call, {
      onMessage: (each) => {
        noteAnswer(facts, each, message);
        // The session has an id from its first answer on.
        facts.sessionId = this.#session.id;
        sink.onMessage(each);
      },
      onEnd: (failure) => {
        // An answer of HTTP goes to the client as it is.
        if (failure !== null && failure.kind !== 'http') facts.error = told(errorOf(failure));
        sink.onEnd(failure);
      },
    });
  }

  post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    this.#note(message, call);
    const { trace } = call.exchange;
    if (trace === null) return this.#session.post(message, call);
    const kind = message.kind === 'notification' ? 'notification' : 'answer';
    return this.#seen(trace, { kind, message, call }).settled(this.#session.post(message, call));
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    this.#note(null, call);
    const { trace } = call.exchange;
    if (trace === null) return this.#session.listen(call, sink);
    const seen = this.#seen(trace, { kind: 'stream', message: null, call });
    return seen.calling(this.#session.listen(call, seen.sink(sink)));
  }

  close(call: ClientCall): Promise<void> {
    this.#note(null, call);
    const { trace } = call.exchange;
    if (trace === null) return this.#session.close(call);
    const seen = this.#seen(trace, { kind: 'end', message: null, call });
    return this.#session.close(call).finally(() => seen.accepted());
  }

  #seen(trace: Recorder, { kind, message, call }: Telling): MessageTrace {
    const session = (): string | null => this.#session.id;
    const side = { target: null, limitBytes: MAX_RECORDED_BYTES, version: call.version, session };
    return new MessageTrace(trace, side, { kind, message });
  }

  #note(message: RpcMessage | null, { exchange }: ClientCall): McpFacts | null {
    const facts = exchange.attributes.mcp;
    if (facts === null) return null;
    facts.sessionId = this.#session.id;
    if (message !== null && 'method' in message) facts.methodName = message.method;
    return facts;
  }
}

interface Telling {
  readonly kind: McpKind;
  readonly message: RpcMessage | null;
  readonly call: ClientCall;
}

/** The answer as the client gets it. */
function noteAnswer(facts: McpFacts, message: RpcMessage, { id, method }: RpcRequest): void {
  if (message.kind === 'error' && (message.id === id || message.id === null)) facts.error = told(message.error);
  else if (message.kind === 'result' && message.id === id && method === 'tools/call') facts.result = message.result;
}

function told({ code, message }: RpcFailure): JsonObject {
  return { code, message };
}

function objectIn(params: JsonObject | undefined, name: string): JsonObject | null {
  const value = params?.[name];
  return isJsonObject(value) ? value : null;
}
