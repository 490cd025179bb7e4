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
import type { TargetRecord } from './target-record.ts';

/** The target, with a record of what its conversations come to. */
export function counted(target: Target, record: TargetRecord): Target {
  const { name, transport } = target;
  // What a document tells is answered without asking the service.
  const only = transport === 'openapi' ? 'tools/call' : null;
  return {
    name,
    transport,
    connect: (state, lone) => new CountedConnection(target.connect(state, lone), record, only),
  };
}

class CountedConnection implements TargetConnection {
  readonly #connection: TargetConnection;
  readonly #record: TargetRecord;
  readonly #only: string | null;

  constructor(connection: TargetConnection, record: TargetRecord, only: string | null) {
    this.#connection = connection;
    this.#record = record;
    this.#only = only;
  }

  get state(): TargetState | null {
    return this.#connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    if (this.#only !== null && message.method !== this.#only) return this.#connection.request(message, call, sink);
    this.#record.called();
    return this.#connection.request(message, call, new CountedCall(message, sink, this.#record));
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return this.#connection.post(message, call);
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    return this.#connection.listen(call, sink);
  }

  close(call: TargetCall | null): Promise<TargetFailure | null> {
    return this.#connection.close(call);
  }

  leave(): void {
    this.#connection.leave();
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
