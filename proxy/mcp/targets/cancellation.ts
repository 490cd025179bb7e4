import type { RequestId, RpcMessage, RpcNotification, RpcRequest } from '../message/message.ts';

/** Tells a target of the older versions that nobody waits for an answer any more (2025-06-18, "Cancellation"). */
export function cancellationOf(message: RpcRequest): RpcNotification {
  const params = { requestId: message.id, reason: 'the client has gone' };
  return { kind: 'notification', method: 'notifications/cancelled', params };
}

/** The request that a client gives up with this; null where it gives up none. */
export function cancelledBy(message: RpcMessage): RequestId | null {
  if (message.kind !== 'notification' || message.method !== 'notifications/cancelled') return null;
  const id = message.params?.['requestId'];
  return typeof id === 'string' || typeof id === 'number' ? id : null;
}
