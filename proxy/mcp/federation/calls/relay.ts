import { rpcCodes } from '../../message/codes.ts';
import type { RpcAnswer, RpcFailure, RpcNotification, RpcRequest } from '../../message/message.ts';
import type { ClientCall } from '../../session/contract.ts';
import type { CallSink } from '../../targets/contract.ts';
import { forwarded, isConnection, targetCall, type Members } from '../members.ts';
import { notificationOut, requestOut } from '../server-requests.ts';

/**
 * Hands on what a target says before its answer, or on a stream of its own. An error where a target asks something of a
 * client that has no way to answer on its own: such clients are asked with an `input_required` result.
 */
export function relay(
  members: Members,
  target: number,
  call: ClientCall,
  message: RpcNotification | RpcRequest,
  sink: CallSink,
): RpcFailure | null {
  const { naming } = members.plan;
  if (message.kind === 'notification') {
    members.heard(target, message);
    sink.onMessage(notificationOut(naming, target, message));
    return null;
  }
  if (call.era === 'modern') return unasked(message.method);
  if (members.plan.stateful) sink.onMessage(requestOut(naming, target, message));
  else decline(members, target, call, message);
  return null;
}

function unasked(method: string): RpcFailure {
  return {
    code: rpcCodes.internal,
    message: `the server sent the request ${method}, which clients of this protocol version cannot answer; it has to return an input_required result instead`,
  };
}

/** Without a session no later request of the client reaches this conversation: the target must not wait for one. */
function decline(members: Members, target: number, call: ClientCall, request: RpcRequest): void {
  const connection = members.connection(target);
  if (!isConnection(connection)) return;
  const { id, method } = request;
  const error = { code: rpcCodes.methodNotFound, message: `${method} needs a session, and there is none` };
  const answer: RpcAnswer = method === 'ping' ? { kind: 'result', id, result: {} } : { kind: 'error', id, error };
  // The target is told as well as can be; when it cannot be, its call fails by itself.
  connection.post(answer, targetCall(members, target, call, forwarded(call))).catch(() => {});
}
