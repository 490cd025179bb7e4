import type { RequestId, RpcAnswer, RpcNotification, RpcRequest } from '../../message/message.ts';
import { cancelledBy } from '../cancellation.ts';
import type { CallSink, Calling, TargetCall, TargetConnection, TargetFailure, TargetState } from '../contract.ts';
import { StreamableCall } from './call.ts';
import { broken, succeeded } from '../http-failures.ts';
import { Conversation, isModern, type StreamableOptions } from './conversation.ts';
import { Listening } from './listening.ts';

/** A conversation over streamable HTTP: a POST for each message, a GET for what the target says unasked. */
export class StreamableConnection implements TargetConnection {
  readonly #conversation: Conversation;
  readonly #calls = new Map<RequestId, StreamableCall>();
  readonly #streams = new Set<Listening>();

  constructor(options: StreamableOptions, state: TargetState | null) {
    this.#conversation = new Conversation(options, state);
  }

  get state(): TargetState {
    return this.#conversation.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    const { id } = message;
    const calling: StreamableCall = new StreamableCall(this.#conversation, message, {
      call,
      sink,
      onOver: () => {
        if (this.#calls.get(id) === calling) this.#calls.delete(id);
      },
    });
    this.#calls.set(id, calling);
    calling.start();
    return calling;
  }

  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    const cancelled = this.#cancelledBy(message);
    if (cancelled !== null && isModern(call)) {
      cancelled.end(null);
      return null;
    }
    const { session } = this.#conversation;
    const outcome = await this.#conversation.post(message, call).outcome;
    // Many servers leave the stream of what was cancelled open for good.
    cancelled?.end(null);
    if (outcome.kind !== 'answer') return outcome;
    const { response } = outcome;
    this.#conversation.heard(outcome);
    if (!succeeded(response)) return this.#conversation.failureOf(response, session);
    response.body.cancel();
    return null;
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    const stream: Listening = new Listening(this.#conversation, call, sink, () => this.#streams.delete(stream));
    this.#streams.add(stream);
    if (isModern(call)) {
      const unsupported = { kind: 'unsupported', message: 'there are no streams without a request' } as const;
      queueMicrotask(() => stream.end(unsupported));
    } else stream.start();
    return stream;
  }

  leave(): void {
    for (const each of this.#calls.values()) each.end(broken('the conversation is over'));
    // What is said unasked ends with it as it should.
    for (const each of this.#streams) each.end(null);
  }

  async close(call: TargetCall | null): Promise<TargetFailure | null> {
    this.leave();
    if (this.#conversation.session === undefined) return null;
    const { outcome: told } = this.#conversation.delete(call);
    // Whoever closes it again meanwhile has nothing more to say.
    this.#conversation.forget();
    const outcome = await told;
    if (outcome.kind !== 'answer') return outcome;
    const { response } = outcome;
    // Gone already, or ended by the target alone.
    if (!succeeded(response) && response.status !== 404 && response.status !== 405)
      return this.#conversation.failureOf(response, undefined);
    response.body.cancel();
    return null;
  }

  #cancelledBy(message: RpcNotification | RpcAnswer): StreamableCall | null {
    const id = cancelledBy(message);
    return id === null ? null : (this.#calls.get(id) ?? null);
  }
}
