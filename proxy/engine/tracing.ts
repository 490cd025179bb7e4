/** What a watched request tells about the engine's own steps; never called while nobody watches. */
import type { Severity } from '../../src/admin/protocol/trace-event.ts';
import { peerOf } from '../backends/connect.ts';
import type { Origin, UpstreamResponse } from '../backends/upstream.ts';
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
import type { RequestRun } from './run.ts';

export function begin(run: RequestRun, trace: Recorder): void {
  trace.emit({ type: 'requestStarted' });
  snapshot(run, 'initial request');
}

export function placed(run: RequestRun, trace: Recorder): void {
  const phase = run.listener === null ? 'frontend' : 'listenerFrontend';
  trace.emit({ type: 'policySelection', phase, effectivePolicy: shownFrontend(run.engine.config.frontend) });
  trace.emit({ type: 'policySelection', phase: 'gateway', effectivePolicy: {} });
  snapshot(run, 'gateway policies');
}

export function routed(
  run: RequestRun,
  trace: Recorder,
  { table, matched }: { table: RouteTable<RouteSlot>; matched: Matched<RouteSlot> | null },
): void {
  const { redaction } = run.runtime.init.telemetry;
  const isSensitive = (name: string): boolean => redaction.isSensitive(name);
  const { evaluated, rejected } = explain(table, run.exchange.request, { winner: matched, isSensitive });
  const selectedRoute = matched?.route.key ?? null;
  trace.emit(
    { type: 'routeSelection', selectedRoute, evaluatedRoutes: evaluated, rejectedRoutes: rejected },
    matched === null ? 'error' : 'info',
  );
}

export function routePolicies(trace: Recorder, program: RouteProgram): void {
  trace.emit({ type: 'policySelection', phase: 'route', effectivePolicy: shownPolicies(program.pipeline.effective) });
}

export function backendPolicies(trace: Recorder, backend: BackendProgram): void {
  trace.emit({ type: 'policySelection', phase: 'backend', effectivePolicy: shownPolicies(backend.pipeline.effective) });
}

export function snapshot(run: RequestRun, stage: string): void {
  const { exchange } = run;
  const state = requestState(exchange, {
    redaction: run.runtime.init.telemetry.redaction,
    proxy: proxyPart(run),
    backend: backendPart(run),
  });
  exchange.trace?.emit({ type: 'requestSnapshot', stage, requestState: state });
}

/** The last state of the request and the call itself; returns the time of the call's start. */
export function callStart(run: RequestRun, trace: Recorder, origin: Origin): number {
  snapshot(run, 'final request');
  const start = trace.now();
  trace.emit({ type: 'backendCallStart', target: peerOf(origin.address) });
  return start;
}

export function requestBody(run: RequestRun, trace: Recorder, body: Body): Body {
  return body.length === 0 ? body : recordBody(body, trace, { stage: 'final request', limit: bodyLimit(run) });
}

export function rawResponse(run: RequestRun, _trace: Recorder, response: UpstreamResponse): void {
  responseSnapshot(run, 'raw response', response);
}

/** The answer as it leaves, and its body once it has. */
export function finalResponse(run: RequestRun, trace: Recorder, response: HttpResponse): Body {
  responseSnapshot(run, 'final response', response);
  if (response.body.length === 0) return response.body;
  return recordBody(response.body, trace, { stage: 'response', limit: bodyLimit(run) });
}

export function responseSnapshot(
  run: RequestRun,
  stage: string,
  response: Pick<HttpResponse, 'status' | 'headers'>,
): void {
  const { exchange } = run;
  const state = requestState(exchange, {
    redaction: run.runtime.init.telemetry.redaction,
    response,
    proxy: proxyPart(run),
    backend: backendPart(run),
  });
  exchange.trace?.emit({ type: 'responseSnapshot', stage, requestState: state }, statusSeverity(response.status));
}

export function statusSeverity(status: number): Severity {
  return status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
}

function bodyLimit(run: RequestRun): number {
  return run.engine.config.frontend.http.maxBufferSize;
}

function proxyPart(run: RequestRun) {
  const { exchange, listener, upstreamStartedAt, upstreamHeadAt } = run;
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

function backendPart(run: RequestRun) {
  const resolved = run.backend?.resolved;
  return resolved === undefined
    ? undefined
    : { name: resolved.name, type: resolved.kind, protocol: run.protocol === '' ? 'http' : run.protocol };
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
