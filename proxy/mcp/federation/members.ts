import { Headers } from '../../exchange/headers.ts';
import type { Reason } from '../../exchange/refusal.ts';
import type { McpItem } from '../guard/contract.ts';
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

/** The gateway's own no, told as such as long as nothing has been said to the client. */
export function denied(error: RpcFailure, reason: Reason, status = 200): TargetFailure {
  return { kind: 'denied', status, reason, error };
}

/** Nobody could be asked. */
export const nobodyThere = denied({ code: rpcCodes.internal, message: 'no upstreams available' }, 'MCP', 503);

/** A defect, or a fault that nobody has foreseen. */
export function fault(error: unknown): TargetFailure {
  const message = error instanceof Error ? error.message : String(error);
  return denied({ code: rpcCodes.internal, message }, 'Internal', 500);
}

/** A request that cannot be understood. */
export function unfit(message: string): TargetFailure {
  return denied({ code: rpcCodes.invalidParams, message }, 'MCP', 400);
}

/**
 * An item that does not exist, or that the client may not know of. Where there are rules, they are the reason either way:
 * what is not there must look like what is not allowed.
 */
export function unknownItem({ plan }: Pick<Members, 'plan'>, kind: McpItem['kind'], name: string): TargetFailure {
  const reason = plan.rules.allows === null ? 'MCP' : 'Authorization';
  return denied({ code: rpcCodes.invalidParams, message: `Unknown ${kind}: ${name}` }, reason);
}

/** Names who said no to an answer that a target has given, for logs and the head of the answer. */
export function blame({ exchange }: ClientCall, reason: Reason): void {
  const { mcp } = exchange.attributes;
  if (mcp !== null) mcp.refusedBy = reason;
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
