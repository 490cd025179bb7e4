import type { RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type {
  CallSink,
  Calling,
  Target,
  TargetCall,
  TargetConnection,
  TargetFailure,
  TargetState,
} from './contract.ts';

/** The target, whose failures say which one it is: clients see one server. Around everything that tells logs of them. */
export function named(target: Target): Target {
  const { name, transport } = target;
  return { name, transport, connect: (state, lone) => new NamedConnection(name, target.connect(state, lone)) };
}

class NamedConnection implements TargetConnection {
  readonly #name: string;
  readonly #connection: TargetConnection;

  constructor(name: string, connection: TargetConnection) {
    this.#name = name;
    this.#connection = connection;
  }

  get state(): TargetState | null {
    return this.#connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    return this.#connection.request(message, call, this.#sink(sink));
  }

  async post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return withName(this.#name, await this.#connection.post(message, call));
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    return this.#connection.listen(call, this.#sink(sink));
  }

  async close(call: TargetCall | null): Promise<TargetFailure | null> {
    return withName(this.#name, await this.#connection.close(call));
  }

  leave(): void {
    this.#connection.leave();
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
