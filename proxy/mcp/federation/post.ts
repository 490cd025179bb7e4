import { rpcCodes } from '../message/codes.ts';
import type { RpcAnswer, RpcNotification } from '../message/message.ts';
import type { ClientCall } from '../session/contract.ts';
import type { TargetFailure } from '../targets/contract.ts';
import { denied, forwarded, isConnection, targetCall, type Members } from './members.ts';
import { answerIn, notificationIn, progressOf } from './server-requests.ts';

/** What a client says without waiting for an answer: its answers to targets, and notifications. */
export function post(
  members: Members,
  message: RpcNotification | RpcAnswer,
  call: ClientCall,
): Promise<TargetFailure | null> {
  return message.kind === 'notification' ? notify(members, message, call) : answer(members, message, call);
}

function answer(members: Members, message: RpcAnswer, call: ClientCall): Promise<TargetFailure | null> {
  const { naming } = members.plan;
  const known = answerIn(naming, message);
  if (known !== null) return send(members, known.target, known.answer, call);
  if (naming.targets.length === 1) return send(members, 0, message, call);
  // An error of nothing in particular is for nobody in particular.
  if (message.id === null) return Promise.resolve(null);
  const error = { code: rpcCodes.invalidRequest, message: 'the id of the answer is that of no request of a target' };
  return Promise.resolve(denied(error, 'MCP', 400));
}

async function notify(members: Members, message: RpcNotification, call: ClientCall): Promise<TargetFailure | null> {
  const { naming, failOpen } = members.plan;
  const owner = message.method === 'notifications/progress' ? progressOf(naming, message.params ?? {}) : null;
  if (owner !== null) return send(members, owner.target, notificationIn(naming, owner.target, message), call);
  const all = naming.targets.map((_, target) => send(members, target, notificationIn(naming, target, message), call));
  const failures = (await Promise.all(all)).filter((failure) => failure !== null && failure.kind !== 'unsupported');
  return failOpen && naming.targets.length > 1 ? null : (failures[0] ?? null);
}

async function send(
  members: Members,
  target: number,
  message: RpcNotification | RpcAnswer,
  call: ClientCall,
): Promise<TargetFailure | null> {
  const connection = members.connection(target);
  if (!isConnection(connection)) return connection;
  try {
    return await connection.post(message, targetCall(members, target, call, forwarded(call)));
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
}
