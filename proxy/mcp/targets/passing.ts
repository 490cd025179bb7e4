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

/** The target, with something around each of its conversations. */
export function around(target: Target, wrap: (connection: TargetConnection) => TargetConnection): Target {
  const { name, transport } = target;
  return { name, transport, connect: (state, lone) => wrap(target.connect(state, lone)) };
}

/** A conversation that passes everything on: those around another one change what they are about. */
export class PassingConnection implements TargetConnection {
  protected readonly connection: TargetConnection;

  constructor(connection: TargetConnection) {
    this.connection = connection;
  }

  get state(): TargetState | null {
    return this.connection.state;
  }

  request(message: RpcRequest, call: TargetCall, sink: CallSink): Calling {
    return this.connection.request(message, call, sink);
  }

  post(message: RpcNotification | RpcAnswer, call: TargetCall): Promise<TargetFailure | null> {
    return this.connection.post(message, call);
  }

  listen(call: TargetCall, sink: CallSink): Calling {
    return this.connection.listen(call, sink);
  }

  close(call: TargetCall | null): Promise<TargetFailure | null> {
    return this.connection.close(call);
  }

  leave(): void {
    this.connection.leave();
  }
}
