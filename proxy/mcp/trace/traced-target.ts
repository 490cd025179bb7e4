import type { McpKind } from '../../../src/admin/protocol/trace-event.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import type { RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../message/message.ts';
import type {
  CallSink,
  Calling,
  Target,
  TargetCall,
  TargetConnection,
  TargetFailure,
  TargetState,
} from '../targets/contract.ts';
import { MessageTrace } from './message-trace.ts';

/** The target, with each message to it told to whoever watches the request that it is for. */
export function traced(target: Target, limitBytes: number): Target {
  return {
    name: target.name,
    transport: target.transport,
    connect: (state, lone) => new TracedConnection(target, target.connect(state, lone), limitBytes),
  };
}

class TracedConnection implements TargetConnection {
  readonly #target: Target;
  readonly #connection: TargetConnection;
  readonly #limitBytes: number;

  constructor(target: Target, connection: TargetConnection, limitBytes: number) {
    this.#target = target;
    this.#connection = connection;
    this.#limitBytes = limitBytes;
  }

  get state(): TargetState | null {
    return this.#connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    if (call.trace === null) return this.#connection.request(message, call, sink);
    const told = this.#begin(call.trace, { kind: 'request', message, call });
    return told.calling(this.#connection.request(message, call, told.sink(sink)));
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    if (call.trace === null) return this.#connection.post(message, call);
    const kind = message.kind === 'notification' ? 'notification' : 'answer';
    return this.#begin(call.trace, { kind, message, call }).settled(this.#connection.post(message, call));
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    if (call.trace === null) return this.#connection.listen(call, sink);
    const told = this.#begin(call.trace, { kind: 'stream', message: null, call });
    return told.calling(this.#connection.listen(call, told.sink(sink)));
  }

  close(call: TargetCall | null): Promise<TargetFailure | null> {
    const closes = this.state === null || this.state.session !== undefined;
    if (call === null || call.trace === null || !closes) return this.#connection.close(call);
    return this.#begin(call.trace, { kind: 'end', message: null, call }).settled(this.#connection.close(call));
  }

  leave(): void {
    this.#connection.leave();
  }

  #begin(trace: Recorder, { kind, message, call }: Telling): MessageTrace {
    const side = {
      target: this.#target,
      limitBytes: this.#limitBytes,
      version: call.version,
      session: () => this.state?.session ?? null,
    };
    return new MessageTrace(trace, side, { kind, message });
  }
}

interface Telling {
  readonly kind: McpKind;
  readonly message: RpcMessage | null;
  readonly call: TargetCall;
}
