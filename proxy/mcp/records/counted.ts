import type { RpcAnswer, RpcMessage, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, Target, TargetCall, TargetConnection, TargetFailure } from '../targets/contract.ts';
import { around, PassingConnection } from '../targets/passing.ts';
import type { TargetRecord } from './target-record.ts';

/** The target, with a record of what its conversations come to. */
export function counted(target: Target, record: TargetRecord): Target {
  // What a document tells is answered without asking the service.
  const only = target.transport === 'openapi' ? 'tools/call' : null;
  return around(target, (connection) => new CountedConnection(connection, record, only));
}

class CountedConnection extends PassingConnection {
  readonly #record: TargetRecord;
  readonly #only: string | null;

  constructor(connection: TargetConnection, record: TargetRecord, only: string | null) {
    super(connection);
    this.#record = record;
    this.#only = only;
  }

  override request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    if (this.#only !== null && message.method !== this.#only) return super.request(message, call, sink);
    this.#record.called();
    return super.request(message, call, new CountedCall(message, sink, this.#record));
  }
}

/** One call under way; what it was about is only looked at with the answer. */
class CountedCall implements CallSink {
  readonly #request: RpcRequest;
  readonly #sink: CallSink;
  readonly #record: TargetRecord;
  #answered = false;

  constructor(request: RpcRequest, sink: CallSink, record: TargetRecord) {
    this.#request = request;
    this.#sink = sink;
    this.#record = record;
  }

  onOpen(): void {
    this.#sink.onOpen?.();
  }

  onMessage(message: RpcMessage): void {
    if (message.kind === 'result' || message.kind === 'error') this.#answer(message);
    this.#sink.onMessage(message);
  }

  onEnd(failure: TargetFailure | null): void {
    if (failure !== null && !this.#answered) this.#record.failed(failure);
    this.#sink.onEnd(failure);
  }

  #answer(answer: RpcAnswer): void {
    this.#answered = true;
    this.#record.answered(answer.kind === 'error');
    const { method, params } = this.#request;
    if (method === 'tools/list' && answer.kind === 'result')
      this.#record.listed(answer.result, typeof params?.['cursor'] === 'string');
  }
}
