import { Headers } from '../../exchange/headers.ts';
import { rpcCodes } from '../message/codes.ts';
import type { RpcFailure, RpcNotification } from '../message/message.ts';
import type { ClientCall } from '../session/contract.ts';
import type { Calling, TargetCall, TargetConnection, TargetFailure } from '../targets/contract.ts';
import type { ListCache } from './list-cache.ts';
import type { Plan } from './plan.ts';

/** What calls need of the session that they belong to. */
export interface Members {
  readonly plan: Plan;
  /** The conversation with a target, by its position; a failure where none can be had. */
  connection(target: number): TargetConnection | TargetFailure;
  readonly lists: ListCache;
  /** The version agreed with the client; null before. */
  readonly version: string | null;
  /** Tells the session what a target has said, before the client gets it. */
  heard(target: number, notification: RpcNotification): void;
}

export function broken(message: string): TargetFailure {
  return { kind: 'broken', message };
}

export function isConnection(value: TargetConnection | TargetFailure): value is TargetConnection {
  return !('kind' in value);
}

/** What a failure means to somebody who can only be told of errors. */
export function asError(failure: TargetFailure): RpcFailure {
  return failure.kind === 'rpc' ? failure.error : { code: rpcCodes.internal, message: failure.message };
}

export function targetCall(members: Members, target: number, call: ClientCall, headers: Headers): TargetCall {
  const { exchange } = call;
  const name = (): string => members.plan.targets[target]?.name ?? '';
  const trace = exchange.trace === null ? null : exchange.trace.scoped('mcp').scoped(name());
  return { exchange, trace, headers, version: call.version ?? members.version };
}

/** Belong to the body, to the session, or to the connection of the client; each target gets its own. */
const own: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the client that go along to a target; a new object for each call. */
export function forwarded(call: ClientCall): Headers {
  const { names, values } = call.exchange.request.headers;
  const headers = new Headers();
  for (let i = 0; i < names.length; i++) {
    const name = names[i] ?? '';
    if (own.has(name)) continue;
    headers.names.push(name);
    headers.values.push(values[i] ?? '');
  }
  return headers;
}

/** A call that was answered at once: there is nothing to cancel. */
export const settled: Calling = { cancel() {}, pause() {}, resume() {} };
