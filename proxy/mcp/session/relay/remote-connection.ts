import type { RpcAnswer, RpcNotification, RpcRequest } from '../../message/message.ts';
import { writeMessage } from '../../message/write.ts';
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
    return this.#way().call((id) => ({ kind: 'say', id, at: this.#at, text, call: relayed(call) }), sink);
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    const text = writeMessage(message);
    return this.#settled((way, sink) =>
      way.call((id) => ({ kind: 'say', id, at: this.#at, text, call: relayed(call) }), sink),
    );
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    return this.#way().call((id) => ({ kind: 'listen', id, at: this.#at, call: relayed(call) }), sink);
  }

  /** Without a client it is only this thread that has lost interest: the owner has its own idea of idleness. */
  async close(call: TargetCall | null): Promise<TargetFailure | null> {
    if (call === null) return null;
    const failure = await this.#settled((way, sink) =>
      way.call((id) => ({ kind: 'close', id, at: this.#at, call: relayed(call) }), sink),
    );
    // What is not there any more is closed.
    return failure?.kind === 'forgotten' ? null : failure;
  }

  #settled(begin: (way: OwnerWay, sink: CallSink) => void): Promise<TargetFailure | null> {
    return new Promise((resolve) => begin(this.#way(), { onMessage() {}, onEnd: resolve }));
  }
}
