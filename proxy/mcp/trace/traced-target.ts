import type { McpKind } from '../../../src/admin/protocol/trace-event.ts';
import type { Recorder } from '../../telemetry/recorder.ts';
import type { RpcAnswer, RpcMessage, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, Target, TargetCall, TargetConnection, TargetFailure } from '../targets/contract.ts';
import { around, PassingConnection } from '../targets/passing.ts';
import { MessageTrace } from './message-trace.ts';

/** The target, with each message to it told to whoever watches the request that it is for. */
export function traced(target: Target, limitBytes: number): Target {
  return around(target, (connection) => new TracedConnection(target, connection, limitBytes));
}

class TracedConnection extends PassingConnection {
  readonly #target: Target;
  readonly #limitBytes: number;

  constructor(target: Target, connection: TargetConnection, limitBytes: number) {
    super(connection);
    this.#target = target;
    this.#limitBytes = limitBytes;
  }

  override request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    if (call.trace === null) return super.request(message, call, sink);
    const told = this.#begin(call.trace, { kind: 'request', message, call });
    return told.calling(super.request(message, call, told.sink(sink)));
  }

  override post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    if (call.trace === null) return super.post(message, call);
    const kind = message.kind === 'notification' ? 'notification' : 'answer';
    return this.#begin(call.trace, { kind, message, call }).settled(super.post(message, call));
  }

  override listen(call: TargetCall, sink: CallSink): Calling {
    if (call.trace === null) return super.listen(call, sink);
    const told = this.#begin(call.trace, { kind: 'stream', message: null, call });
    return told.calling(super.listen(call, told.sink(sink)));
  }

  override close(call: TargetCall | null): Promise<TargetFailure | null> {
    const closes = this.state === null || this.state.session !== undefined;
    if (call === null || call.trace === null || !closes) return super.close(call);
    return this.#begin(call.trace, { kind: 'end', message: null, call }).settled(super.close(call));
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
