import type { FederatedSession } from '../federation/session.ts';
import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, TargetFailure } from '../targets/contract.ts';
import type { ClientCall, McpSession } from './contract.ts';

/** Conversations for one message alone: they end with it. */
export class LoneConversation implements McpSession {
  readonly id = null;
  readonly #session: FederatedSession;

  constructor(session: FederatedSession) {
    this.#session = session;
  }

  request(message: RpcRequest, call: ClientCall, sink: CallSink): Calling {
    const calling = this.#session.request(message, call, {
      onMessage: (each) => sink.onMessage(each),
      onEnd: (failure) => {
        void this.#session.close(call);
        sink.onEnd(failure);
      },
    });
    return {
      cancel: () => {
        calling.cancel();
        void this.#session.close(call);
      },
      pause: () => calling.pause(),
      resume: () => calling.resume(),
    };
  }

  async post(message: RpcNotification | RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
    const failure = await this.#session.post(message, call);
    void this.#session.close(call);
    return failure;
  }

  listen(call: ClientCall, sink: CallSink): Calling {
    return this.#session.listen(call, sink);
  }

  close(call: ClientCall): Promise<void> {
    return this.#session.close(call);
  }
}
