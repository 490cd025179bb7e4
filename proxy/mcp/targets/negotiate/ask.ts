import type { RpcAnswer, RpcRequest } from '../../message/message.ts';
import type { Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { explained } from './rejection.ts';

/** Asks something on the gateway's own behalf. An error of the target is a failure of kind `rpc`. */
export async function ask(
  connection: TargetConnection,
  message: RpcRequest,
  call: TargetCall,
  stop: AbortSignal | null = null,
): Promise<(RpcAnswer & { kind: 'result' }) | TargetFailure> {
  const outcome = await answerOf(connection, message, call, stop);
  if (outcome.kind === 'error') return { kind: 'rpc', error: outcome.error };
  return outcome.kind === 'result' ? outcome : explained(outcome);
}

function answerOf(
  connection: TargetConnection,
  message: RpcRequest,
  call: TargetCall,
  stop: AbortSignal | null,
): Promise<RpcAnswer | TargetFailure> {
  return new Promise((resolve) => {
    const calling: Calling = connection.request(message, call, {
      onMessage: (each) => {
        if (each.kind === 'result' || each.kind === 'error') resolve(each);
        else if (each.kind === 'request') void connection.post(replyTo(each), call);
      },
      onEnd: (failure) => resolve(failure ?? { kind: 'broken', message: 'the target answered nothing' }),
    });
    stop?.addEventListener(
      'abort',
      () => {
        calling.cancel();
        resolve({ kind: 'broken', message: 'nobody waits any more' });
      },
      { once: true },
    );
  });
}

/** What the gateway says where there is no client to ask: it is there, and can do nothing else. */
export function replyTo(request: RpcRequest): RpcAnswer {
  const { id, method } = request;
  if (method === 'ping') return { kind: 'result', id, result: {} };
  return { kind: 'error', id, error: { code: -32601, message: `${method} cannot be asked here` } };
}
