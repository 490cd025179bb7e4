import type { RpcAnswer, RpcNotification, RpcRequest } from '../../message/message.ts';
import { writeMessage } from '../../message/write.ts';
import type { Recorder } from '../../../telemetry/recorder.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure } from '../../targets/contract.ts';
import type { Place } from './messages.ts';
import { relayed } from './relayed-call.ts';
import type { OwnerWay } from './owner-way.ts';

/** A conversation that another data thread has, as if it were this one's. */
export class RemoteConnection implements TargetConnection {
  readonly state = null;
  readonly #way: () => OwnerWay;
  readonly #at: Place;

  /** `way` gives the one that is open, or opens one. */
  constructor(way: () => OwnerWay, at: Place) {
    this.#way = way;
    this.#at = at;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const text = writeMessage(message);
    return this.#say(this.#way(), text, { call, sink });
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    const text = writeMessage(message);
    return this.#settled((way, sink) => this.#say(way, text, { call, sink }));
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    const trace = this.#watched(call);
    return this.#way().call((id) => ({ kind: 'listen', id, at: this.#at, call: relayed(call) }), sink, trace);
  }

  /** Without a client it is only this thread that has lost interest: the owner has its own idea of idleness. */
  async close(call: TargetCall | null): Promise<TargetFailure | null> {
    if (call === null) return null;
    const trace = this.#watched(call);
    const failure = await this.#settled((way, sink) =>
      way.call((id) => ({ kind: 'close', id, at: this.#at, call: relayed(call) }), sink, trace),
    );
    // What is not there any more is closed.
    return failure?.kind === 'forgotten' ? null : failure;
  }

  /** The session goes on where it is. */
  leave(): void {}

  #say(way: OwnerWay, text: string, { call, sink }: { readonly call: TargetCall; readonly sink: CallSink }): Calling {
    const trace = this.#watched(call);
    return way.call((id) => ({ kind: 'say', id, at: this.#at, text, call: relayed(call) }), sink, trace);
  }

  /** Tells whoever watches where the call goes; what happens there follows by itself. */
  #watched({ trace, exchange }: TargetCall): Recorder | null {
    const watched = trace ?? exchange.trace;
    const details = 'asked of the data thread that has the session';
    watched?.emit({ type: 'policyEvent', kind: 'mcp_relay', details });
    return watched;
  }

  #settled(begin: (way: OwnerWay, sink: CallSink) => void): Promise<TargetFailure | null> {
    return new Promise((resolve) => begin(this.#way(), { onMessage() {}, onEnd: resolve }));
  }
}
