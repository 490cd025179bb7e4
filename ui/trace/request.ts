import type { RequestState, TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { withA2a, type A2aRequestFacts } from './a2a.ts';
import { withChat, type ChatFacts } from './chat.ts';
import { targetsOf, withMcp, type McpRequestFacts } from './mcp.ts';
import { clipMiddle, width } from '../terminal/text.ts';
import { noSteps, watchStep, type StepWatch } from './timing.ts';

/** What the events of one request have told so far; the same facts head the viewer, the live table and the plain trace. */
export interface RequestFacts {
  readonly method: string | undefined;
  readonly host: string | undefined;
  readonly path: string | undefined;
  readonly scheme: string | undefined;
  /** Wall clock of time zero, RFC 3339. */
  readonly startTime: string | undefined;
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly route: string | null | undefined;
  /** The target of the last call to a backend. */
  readonly backend: string | undefined;
  readonly backendCalls: number;
  /** End of the latest event, microseconds since the trace began. */
  readonly totalUs: number;
  readonly finished: boolean;
  readonly events: number;
  readonly warnings: number;
  readonly errors: number;
  readonly steps: StepWatch;
  /** Undefined for requests to anything but a language model. */
  readonly chat: ChatFacts | undefined;
  /** Undefined for requests to anything but MCP servers. */
  readonly mcp: McpRequestFacts | undefined;
  /** Undefined for requests to anything but an agent. */
  readonly a2a: A2aRequestFacts | undefined;
}

export const noFacts: RequestFacts = {
  method: undefined,
  host: undefined,
  path: undefined,
  scheme: undefined,
  startTime: undefined,
  status: undefined,
  error: undefined,
  route: undefined,
  backend: undefined,
  backendCalls: 0,
  totalUs: 0,
  finished: false,
  events: 0,
  warnings: 0,
  errors: 0,
  steps: noSteps,
  chat: undefined,
  mcp: undefined,
  a2a: undefined,
};

/** The facts after one more event of the request; `index` is the event's place in the caller's list. */
export function withEvent(facts: RequestFacts, event: TraceEvent, index: number): RequestFacts {
  const counted: RequestFacts = {
    ...facts,
    startTime: facts.startTime ?? event.startTime,
    totalUs: Math.max(facts.totalUs, event.eventEnd),
    events: facts.events + 1,
    warnings: facts.warnings + (event.severity === 'warn' ? 1 : 0),
    errors: facts.errors + (event.severity === 'error' ? 1 : 0),
    steps: watchStep(facts.steps, event, index),
    mcp: withMcp(facts.mcp, event, index),
  };
  /* Calls that the gateway makes for the request (mirror, external authorization) say nothing about the request itself. */
  if ((event.scope ?? []).some((name) => name !== 'http'))
    return counted.mcp === undefined ? counted : withTargets(counted, counted.mcp);
  const chat = withChat(facts.chat, event.message, index);
  const a2a = withA2a(facts.a2a, event.message);
  return withMessage(chat === facts.chat && a2a === facts.a2a ? counted : { ...counted, chat, a2a }, event);
}

/** The facts of a whole request. */
export function factsOf(events: readonly TraceEvent[]): RequestFacts {
  return events.reduce(withEvent, noFacts);
}

/** `GET shop.test/cart`, `POST shop.test/mcp tools/call echo`, or what of it is known. */
export function requestLine(facts: RequestFacts): string {
  const target = `${facts.host ?? ''}${facts.path ?? ''}`;
  return [facts.method ?? '', target, operationOf(facts)].filter((part) => part !== '').join(' ') || 'request';
}

/** The request in the columns there are: what says least is left out before anything is cut. */
export function fittingLine(facts: RequestFacts, columns: number): string {
  const operation = operationOf(facts);
  const withoutHost = [facts.method ?? '', facts.path ?? '', operation].filter((part) => part !== '').join(' ');
  const forms = [requestLine(facts), ...(facts.path === undefined ? [] : [withoutHost]), operation];
  const known = forms.filter((form) => form !== '');
  return known.find((form) => width(form) <= columns) ?? clipMiddle(known.at(-1) ?? '', columns);
}

/** What is asked of servers of MCP or of an agent: `tools/call echo`; empty for other requests. */
export function operationOf({ mcp, a2a }: RequestFacts): string {
  return mcp?.what ?? a2a?.method ?? '';
}

/** What HTTP does not say: `error -32602`, `tool error`. */
export function rpcProblem({ mcp, a2a }: RequestFacts): string | undefined {
  return mcp?.problem ?? a2a?.problem;
}

/** `200`, `504`, `failed`, or `…` while the request runs. */
export function statusText(facts: RequestFacts): string {
  if (facts.status !== undefined) return String(facts.status);
  if (facts.error !== undefined) return 'failed';
  return facts.finished ? '-' : '…';
}

/** Whether a person who looks for trouble wants to see this request. */
export function isProblem(facts: RequestFacts): boolean {
  return facts.errors > 0 || facts.warnings > 0 || (facts.status ?? 0) >= 400 || facts.error !== undefined;
}

/** Servers stand for the backend: there may be several. */
function withTargets(facts: RequestFacts, mcp: McpRequestFacts): RequestFacts {
  const targets = targetsOf(mcp);
  if (targets.length === 0) return facts;
  return { ...facts, backend: targets.join(', '), backendCalls: mcp.calls.length };
}

function withMessage(facts: RequestFacts, event: TraceEvent): RequestFacts {
  const message = event.message;
  switch (message.type) {
    case 'requestSnapshot':
    case 'cel':
      return facts.method === undefined ? { ...facts, ...requestFields(message.requestState) } : facts;
    case 'responseSnapshot':
      return { ...facts, status: message.requestState?.response?.code ?? facts.status };
    case 'routeSelection':
      return { ...facts, route: message.selectedRoute };
    case 'backendCallStart':
      return { ...facts, backend: message.target, backendCalls: facts.backendCalls + 1 };
    case 'requestFinished':
      return {
        ...facts,
        status: message.status ?? facts.status,
        error: message.error ?? undefined,
        finished: true,
      };
    default:
      return facts;
  }
}

function requestFields(state: RequestState | undefined): Partial<RequestFacts> {
  const request = state?.request;
  if (request === undefined || request === null) return connectionFields(state);
  return {
    method: request.method,
    host: request.host,
    path: request.pathAndQuery ?? request.path,
    scheme: request.scheme,
  };
}

/** A TCP or TLS connection, which has no request line. */
function connectionFields(state: RequestState | undefined): Partial<RequestFacts> {
  const connection = state?.['connection'];
  if (typeof connection !== 'object' || connection === null || !('protocol' in connection)) return {};
  const host = 'sni' in connection && typeof connection.sni === 'string' ? connection.sni : undefined;
  return { method: String(connection.protocol).toUpperCase(), host };
}

/** The end of a route's key that tells routes apart: what is in front of it names the listener. */
export function shortRoute(key: string): string {
  return key.split('/').slice(-2).join('/');
}
