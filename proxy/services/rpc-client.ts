import { BufferedBody } from '../exchange/body.ts';
import type { Connection } from './connection.ts';
import { type RpcMethod, type RpcOptions, ServiceError } from './contract.ts';
import { frame } from './grpc-frames.ts';
import { decoded } from './grpc-message.ts';
import { RpcCall } from './rpc-call.ts';
import type { ServiceDeps } from './service-call.ts';

interface RpcTo {
  readonly deps: ServiceDeps;
  readonly connection: Connection;
  readonly options: RpcOptions;
}

/** One message there, one message back. Throws a `ServiceError`. */
export function callUnary<I, O>({ deps, connection, options }: RpcTo, method: RpcMethod<I, O>, message: I): Promise<O> {
  return new Promise((resolve, reject) => {
    const answers: O[] = [];
    const call = new RpcCall(deps, connection, {
      path: method.path,
      body: new BufferedBody(frame(method.encode(message))),
      limits: { totalMs: connection.timeoutMs ?? options.timeoutMs, headMs: null },
      options,
      onMessage: (bytes) => {
        if (answers.length === 1) call.breach(new ServiceError('protocol', 'the service answered a call twice'));
        else answers.push(decoded(method, bytes));
      },
      onEnd: (error) => {
        const [answer] = answers;
        if (error !== null) reject(error);
        else if (answers.length === 0 || answer === undefined)
          reject(new ServiceError('protocol', 'the service ended a call without an answer'));
        else resolve(answer);
      },
    });
  });
}
