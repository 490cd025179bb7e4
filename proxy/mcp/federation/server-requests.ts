import type { JsonObject } from '../../../src/shared/json.ts';
import type { RequestId, RpcAnswer, RpcNotification, RpcRequest } from '../message/message.ts';
import type { Naming } from './naming.ts';
import { inMember, relatedIn, relatedOut, textMember, withMember } from './rename/meta.ts';

/**
 * What targets ask of clients, and what both say meanwhile. Two targets may use the same id or progress token, so those
 * that a target has chosen leave as `gw_<target>_n_<number>` or `gw_<target>_s_<text>`, and come back as they were.
 */
export function requestOut(naming: Naming, target: number, request: RpcRequest): RpcRequest {
  const id = tag(naming, target, request.id);
  const params = request.params;
  if (params === undefined) return { ...request, id };
  // What is asked about tasks of the client is about ids of the client.
  const own = request.method.startsWith('tasks/') ? params : relatedOut(naming, target, params);
  const tokens = inMember(own, '_meta', (meta) => tagged(naming, target, meta, 'progressToken'));
  return { ...request, id, params: tokens };
}

/** The same object where nothing in it has to be changed. */
export function notificationOut(naming: Naming, target: number, notification: RpcNotification): RpcNotification {
  const { method, params } = notification;
  if (params === undefined) return notification;
  const next = noticeOut(naming, target, method, params);
  return next === params ? notification : { ...notification, params: next };
}

/** Whose request a client answers, with the id that it had; null for an id that the gateway has not made. */
export function answerIn(naming: Naming, answer: RpcAnswer): { target: number; answer: RpcAnswer } | null {
  const origin = answer.id === null ? null : untag(naming, answer.id);
  if (origin === null) return null;
  if (answer.kind === 'error') return { target: origin.target, answer: { ...answer, id: origin.id } };
  const result = relatedIn(naming, origin.target, answer.result);
  return { target: origin.target, answer: { ...answer, id: origin.id, result } };
}

/** A client's notification for one of the targets, in the target's own words. */
export function notificationIn(naming: Naming, target: number, notification: RpcNotification): RpcNotification {
  const { params } = notification;
  if (params === undefined) return notification;
  const related = relatedIn(naming, target, params);
  const token = notification.method === 'notifications/progress' ? progressOf(naming, params) : null;
  const next = token === null || token.target !== target ? related : withMember(related, 'progressToken', token.id);
  return next === params ? notification : { ...notification, params: next };
}

/** Whose request a client reports the progress of. */
export function progressOf(naming: Naming, params: JsonObject): Origin | null {
  const token = params['progressToken'];
  return typeof token === 'string' ? untag(naming, token) : null;
}

export interface Origin {
  readonly target: number;
  readonly id: RequestId;
}

function noticeOut(naming: Naming, target: number, method: string, params: JsonObject): JsonObject {
  switch (method) {
    case 'notifications/cancelled':
      return tagged(naming, target, params, 'requestId');
    case 'notifications/resources/updated':
      return textMember(relatedOut(naming, target, params), 'uri', (uri) => naming.uriOut(target, uri));
    case 'notifications/tasks':
    case 'notifications/tasks/status':
      return textMember(relatedOut(naming, target, params), 'taskId', (id) => naming.taskOut(target, id));
    default:
      return relatedOut(naming, target, params);
  }
}

function tagged(naming: Naming, target: number, value: JsonObject, key: string): JsonObject {
  const id = value[key];
  return typeof id === 'string' || typeof id === 'number' ? withMember(value, key, tag(naming, target, id)) : value;
}

const prefix = 'gw_';
const kindLength = 'n_'.length;

function tag(naming: Naming, target: number, id: RequestId): string {
  return `${prefix}${naming.targets[target] ?? ''}_${typeof id === 'number' ? 'n' : 's'}_${id}`;
}

/** Names of targets have no `_`, so the second one ends the name. */
function untag(naming: Naming, id: RequestId): Origin | null {
  if (typeof id !== 'string' || !id.startsWith(prefix)) return null;
  const end = id.indexOf('_', prefix.length);
  if (end === -1) return null;
  const target = naming.indexOf(id.slice(prefix.length, end));
  const kind = id.slice(end + 1, end + 1 + kindLength);
  const text = id.slice(end + 1 + kindLength);
  if (target === -1) return null;
  if (kind === 's_') return { target, id: text };
  return kind === 'n_' && text === String(Number(text)) && Number.isFinite(Number(text))
    ? { target, id: Number(text) }
    : null;
}
