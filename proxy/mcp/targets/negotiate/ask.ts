import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcRequest } from '../../message/message.ts';
import type { Calling, TargetCall, TargetConnection, TargetFailure } from '../contract.ts';
import { dropped, explained } from './rejection.ts';

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
  return new Promise((told) => {
    const resolve = (answer: RpcAnswer | TargetFailure): void => {
      stop?.removeEventListener('abort', giveUp);
      told(answer);
    };
    const calling: Calling = connection.request(message, call, {
      onMessage: (each) => {
        if (each.kind === 'result' || each.kind === 'error') resolve(each);
        else if (each.kind === 'request') reply(connection, each, call);
      },
      onEnd: (failure) => resolve(failure ?? { kind: 'broken', message: 'the target answered nothing' }),
    });
    function giveUp(): void {
      calling.cancel();
      resolve({ kind: 'broken', message: 'nobody waits any more' });
    }
    if (stop?.aborted === true) giveUp();
    else stop?.addEventListener('abort', giveUp, { once: true });
  });
}

/** Asks for something that is good to have; whether the target has done it. */
export async function attempt(connection: TargetConnection, message: RpcRequest, call: TargetCall): Promise<boolean> {
  const answer = await ask(connection, message, call);
  if (answer.kind === 'result') return true;
  dropped(answer);
  return false;
}

/** Answers where there is no client to ask: the gateway is there, and can do nothing else. */
export function reply(connection: TargetConnection, { id, method }: RpcRequest, call: TargetCall): void {
  const error = { code: rpcCodes.methodNotFound, message: `${method} cannot be asked here` };
  const answer: RpcAnswer = method === 'ping' ? { kind: 'result', id, result: {} } : { kind: 'error', id, error };
  // A target that does not hear it ends its call by itself.
  void connection.post(answer, call).then((failure) => (failure === null ? undefined : dropped(failure)));
}
