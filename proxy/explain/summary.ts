import type { ExplainedAnswer, ExplainedBackend, Explanation } from '../../src/admin/protocol/explanation.ts';
import type { RejectedRoute, TraceEvent, TraceMessage } from '../../src/admin/protocol/trace-event.ts';
import type { Bind, HttpRoute, RouteBackend } from '../../src/config/ir/index.ts';
import { peerOf } from '../backends/connect.ts';
import type { Engine } from '../engine/engine.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { outcomesOf } from './outcomes.ts';

export interface DryResult {
  readonly bind: Bind;
  readonly engine: Engine;
  readonly events: readonly TraceEvent[];
  /** Null when the connection would be closed before a request is read. */
  readonly response: HttpResponse | null;
}

/** Reads the events of a dry run. */
export function summarize(result: DryResult): Explanation {
  const { bind, events, response } = result;
  const messages = events.filter(({ scope }) => scope === undefined);
  const called = lastOf(messages, 'backendCallStart')?.target ?? null;
  const place = placeOf(messages);
  const routing = lastOf(messages, 'routeSelection');
  const policies = outcomesOf(events);
  return {
    bind: bind.key,
    gateway: place.gateway,
    listener: place.listener,
    route: routing?.selectedRoute ?? null,
    rejectedRoutes: rejectedOf(routing),
    policies,
    backend: backendOf(result, place.route, called),
    answer: answerOf(response, { called, error: lastOf(messages, 'requestFinished')?.error ?? null }),
    events,
  };
}

type Message<T extends TraceMessage['type']> = Extract<TraceMessage, { readonly type: T }>;

function lastOf<T extends TraceMessage['type']>(events: readonly TraceEvent[], type: T): Message<T> | undefined {
  const found = events.findLast(({ message }) => message.type === type)?.message;
  // `as`: the type was just compared.
  return found as Message<T> | undefined;
}

function rejectedOf(routing: Message<'routeSelection'> | undefined): readonly RejectedRoute[] {
  return routing?.rejectedRoutes ?? [];
}

interface Place {
  readonly gateway: string | null;
  readonly listener: string | null;
  readonly route: { readonly namespace: string; readonly name: string; readonly rule?: string | undefined } | null;
}

function placeOf(events: readonly TraceEvent[]): Place {
  const states = events.flatMap(({ message }) => ('requestState' in message ? [message.requestState.proxy] : []));
  const known = states.findLast((proxy) => proxy?.listener !== undefined);
  const { gateway, listener } = known ?? {};
  return {
    gateway: gateway === undefined ? null : `${gateway.namespace}/${gateway.name}`,
    listener: listener?.name ?? null,
    route: states.findLast((proxy) => proxy?.route !== undefined)?.route ?? null,
  };
}

function backendOf(
  { bind, engine, events }: DryResult,
  place: Place['route'],
  called: string | null,
): ExplainedBackend | null {
  const route = place === null ? undefined : findRoute(bind, engine, place);
  const chosen = events.findLast(({ message }) => 'requestState' in message && message.requestState.backend);
  const name =
    chosen !== undefined && 'requestState' in chosen.message ? chosen.message.requestState.backend?.name : undefined;
  const candidates = route === undefined ? [] : sharesOf(route.backends);
  if (name === undefined && candidates.length === 0) return null;
  return { name: name ?? '', endpoint: called, candidates };
}

function findRoute(bind: Bind, engine: Engine, place: NonNullable<Place['route']>): HttpRoute | undefined {
  const routes = [
    ...bind.listeners.flatMap((listener) => listener.routes),
    ...engine.config.routeGroups.flatMap((group) => group.routes),
  ];
  return routes.find(
    ({ name, namespace, ruleName }) =>
      name === place.name && namespace === place.namespace && ruleName === (place.rule ?? undefined),
  );
}

function sharesOf(backends: readonly RouteBackend[]): ExplainedBackend['candidates'] {
  const total = backends.reduce((sum, { weight }) => sum + weight, 0);
  return backends
    .filter(({ weight }) => weight > 0)
    .map((backend) => ({ name: nameOf(backend), share: backend.weight / total }));
}

function nameOf({ target }: RouteBackend): string {
  switch (target.kind) {
    case 'inline':
      return target.backend.kind === 'host' ? peerOf(target.backend.target) : target.backend.key;
    case 'reference':
      return target.backend;
    case 'service':
      return `${target.namespace}/${target.hostname}:${target.port}`;
    case 'routeGroup':
      return `route group ${target.name}`;
    default:
      return target.kind;
  }
}

interface Ending {
  /** What would be called; null when nothing would. */
  readonly called: string | null;
  readonly error: string | null;
}

const closed: ExplainedAnswer = {
  by: 'gateway',
  status: null,
  reason: null,
  message: 'the connection is closed without a word',
  headers: [],
};

function answerOf(response: HttpResponse | null, { called, error }: Ending): ExplainedAnswer {
  if (response === null) return closed;
  const headers = [...response.headers];
  const reason = response.headers.get('x-gw-reason') ?? null;
  if (error !== null || reason !== null) {
    return { by: 'gateway', status: response.status, reason, message: error, headers };
  }
  if (called === null) return { by: 'policy', status: response.status, reason: null, message: null, headers };
  return { by: 'backend', status: null, reason: null, message: null, headers };
}
