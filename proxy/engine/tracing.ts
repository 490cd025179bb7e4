/** What a watched request tells about the engine's own steps; never called while nobody watches. */
import type { Severity } from '../../src/admin/protocol/trace-event.ts';
import { peerOf } from '../backends/connect.ts';
import type { Origin } from '../backends/upstream.ts';
import type { Body } from '../exchange/body.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { explain } from '../routing/explain.ts';
import type { Matched, RouteTable } from '../routing/table.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import type { Redaction } from '../telemetry/redaction.ts';
import { recordBody } from '../telemetry/body-recorder.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { requestState, secondsText } from '../telemetry/request-state.ts';
import type { RouteSlot } from './engine.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { shownFrontend, shownPolicies } from './shown-policies.ts';
import type { InFlight } from './in-flight.ts';

export function begin(flight: InFlight, trace: Recorder): void {
  trace.emit({ type: 'requestStarted' });
  snapshot(flight, 'initial request');
}

export function listenerChosen(flight: InFlight, trace: Recorder): void {
  const phase = flight.listener === null ? 'frontend' : 'listenerFrontend';
  trace.emit({ type: 'policySelection', phase, effectivePolicy: shownFrontend(flight.engine.config.frontend) });
}

export function gatewayPolicies(flight: InFlight, trace: Recorder): void {
  if (flight.listener === null) return;
  const { redaction } = flight.runtime.init.telemetry;
  const effectivePolicy = shownPolicies(flight.listener.gateway.effective, redaction);
  trace.emit({ type: 'policySelection', phase: 'gateway', effectivePolicy });
}

export function routed(
  flight: InFlight,
  trace: Recorder,
  { table, matched }: { table: RouteTable<RouteSlot>; matched: Matched<RouteSlot> | null },
): void {
  const { redaction } = flight.runtime.init.telemetry;
  const isSensitive = (name: string): boolean => redaction.isSensitive(name);
  const { evaluated, rejected } = explain(table, flight.exchange.request, { winner: matched, isSensitive });
  const selectedRoute = matched?.route.key ?? null;
  trace.emit(
    { type: 'routeSelection', selectedRoute, evaluatedRoutes: evaluated, rejectedRoutes: rejected },
    matched === null ? 'error' : 'info',
  );
}

export function routePolicies(flight: InFlight, trace: Recorder, program: RouteProgram): void {
  const effectivePolicy = shownPolicies(program.pipeline.effective, flight.runtime.init.telemetry.redaction);
  trace.emit({ type: 'policySelection', phase: 'route', effectivePolicy });
}

export function backendPolicies(flight: InFlight, trace: Recorder, backend: BackendProgram): void {
  const effectivePolicy = shownPolicies(backend.pipeline.effective, flight.runtime.init.telemetry.redaction);
  trace.emit({ type: 'policySelection', phase: 'backend', effectivePolicy });
}

export function snapshot(flight: InFlight, stage: string): void {
  const { exchange } = flight;
  const state = requestState(exchange, {
    redaction: flight.runtime.init.telemetry.redaction,
    proxy: proxyPart(flight),
    backend: backendPart(flight),
  });
  exchange.trace?.emit({ type: 'requestSnapshot', stage, requestState: state });
}

/** The last state of the request and the call itself; returns the time of the call's start. */
export function callStart(flight: InFlight, trace: Recorder, origin: Origin): number {
  snapshot(flight, 'final request');
  const start = trace.now();
  trace.emit({ type: 'backendCallStart', target: peerOf(origin.address) });
  return start;
}

export function requestBody(flight: InFlight, trace: Recorder, body: Body): Body {
  return body.length === 0 ? body : recordBody(body, trace, { stage: 'final request', limit: bodyLimit(flight) });
}

/** The answer as it leaves, and its body once it has. */
export function finalResponse(flight: InFlight, trace: Recorder, response: HttpResponse): Body {
  responseSnapshot(flight, 'final response', response);
  if (response.body.length === 0) return response.body;
  return recordBody(response.body, trace, { stage: 'response', limit: bodyLimit(flight) });
}

export function responseSnapshot(
  flight: InFlight,
  stage: string,
  response: Pick<HttpResponse, 'status' | 'headers'>,
): void {
  const { exchange } = flight;
  const state = requestState(exchange, {
    redaction: flight.runtime.init.telemetry.redaction,
    response,
    proxy: proxyPart(flight),
    backend: backendPart(flight),
  });
  exchange.trace?.emit({ type: 'responseSnapshot', stage, requestState: state }, statusSeverity(response.status));
}

export function statusSeverity(status: number): Severity {
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}

function bodyLimit(flight: InFlight): number {
  return flight.engine.config.frontend.http.maxBufferSize;
}

function proxyPart(flight: InFlight) {
  const { exchange, listener, upstreamStartedAt, upstreamHeadAt } = flight;
  const { route } = exchange;
  return {
    bind: exchange.connection.bind,
    ...(listener === null
      ? {}
      : {
          gateway: { namespace: listener.gatewayNamespace, name: listener.gatewayName },
          listener: { name: listener.name },
        }),
    ...(route === null
      ? {}
      : {
          route: {
            namespace: route.namespace,
            name: route.name,
            ...(route.ruleName === undefined ? {} : { rule: route.ruleName }),
          },
        }),
    ...(upstreamStartedAt === null
      ? {}
      : { requestProcessingDuration: secondsText(upstreamStartedAt - exchange.startedAt) }),
    ...(upstreamStartedAt === null || upstreamHeadAt === null
      ? {}
      : { upstreamDuration: secondsText(upstreamHeadAt - upstreamStartedAt) }),
    ...(upstreamHeadAt === null ? {} : { responseProcessingDuration: secondsText(performance.now() - upstreamHeadAt) }),
  };
}

function backendPart(flight: InFlight) {
  const resolved = flight.backend?.resolved;
  return resolved === undefined
    ? undefined
    : { name: resolved.name, type: resolved.kind, protocol: flight.protocol === '' ? 'http' : flight.protocol };
}

/** Snapshots between policies, which know the exchange alone. */
export function policySnapshots(redaction: Redaction): Pick<PolicyDeps, 'snapshot' | 'responseSnapshot'> {
  return {
    snapshot: (exchange, stage) =>
      exchange.trace?.emit({ type: 'requestSnapshot', stage, requestState: requestState(exchange, { redaction }) }),
    responseSnapshot: (exchange, response, stage) =>
      exchange.trace?.emit({
        type: 'responseSnapshot',
        stage,
        requestState: requestState(exchange, { redaction, response }),
      }),
  };
}
