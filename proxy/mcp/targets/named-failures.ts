import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { CallSink, Calling, Target, TargetCall, TargetConnection, TargetFailure } from './contract.ts';
import { around, PassingConnection } from './passing.ts';

/** The target, whose failures say which one it is: clients see one server. Around everything that tells logs of them. */
export function named(target: Target): Target {
  return around(target, (connection) => new NamedConnection(target.name, connection));
}

class NamedConnection extends PassingConnection {
  readonly #name: string;

  constructor(name: string, connection: TargetConnection) {
    super(connection);
    this.#name = name;
  }

  override request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    return super.request(message, call, this.#sink(sink));
  }

  override async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return withName(this.#name, await super.post(message, call));
  }

  override listen(call: TargetCall, sink: CallSink): Calling {
    return super.listen(call, this.#sink(sink));
  }

  override async close(call: TargetCall | null): Promise<TargetFailure | null> {
    return withName(this.#name, await super.close(call));
  }

  #sink(sink: CallSink): CallSink {
    const told: CallSink = {
      onMessage: (message) => sink.onMessage(message),
      onEnd: (failure) => sink.onEnd(withName(this.#name, failure)),
    };
    if (sink.onOpen !== undefined) told.onOpen = () => sink.onOpen?.();
    return told;
  }
}

const THE_TARGET = 'the target ';

/** Errors of the target itself, and what the gateway says in its own name, stay as they are. */
export function withName(name: string, failure: TargetFailure | null): TargetFailure | null {
  if (failure === null || failure.kind === 'rpc' || failure.kind === 'denied') return failure;
  const message = (failure.kind === 'broken' ? failure.shown : undefined) ?? failure.message;
  const said = message.startsWith(THE_TARGET)
    ? ` ${message.slice(THE_TARGET.length)}`
    : // Programs name themselves.
      `: ${message.startsWith(`${name}: `) ? message.slice(name.length + 2) : message}`;
  return { ...failure, message: `target ${name}${said}` };
}
