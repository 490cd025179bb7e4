import { messageOf } from '../../src/shared/errors.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import { McpFacts } from '../exchange/mcp-facts.ts';
import { Exchange } from '../exchange/exchange.ts';
import { applyForwardedHeaders } from '../exchange/forwarded.ts';
import { stripRequestHopByHop } from '../exchange/hop-by-hop.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import { refuse, type Refusal } from '../exchange/refusal.ts';
import type { Transport } from '../exchange/transport.ts';
import { watchedBody } from '../exchange/watched-body.ts';
import { systemClock } from '../exchange/wait.ts';
import { arrivalContext } from '../expression/arrival-context.ts';
import { chooseListener, hostOf, placementOf } from '../listener/choose.ts';
import { runRequest, runResponse } from '../policy/run.ts';
import type { LlmCall } from '../llm/call.ts';
import type { ReadRequest } from '../llm/models/requested.ts';
import type { ModelRouter } from '../llm/models/router.ts';
import type { ReadOptions } from '../llm/read-body.ts';
import { resolveDelegation } from '../routing/delegation.ts';
import type { Matched } from '../routing/table.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { callUpstream } from './attempts.ts';
import type { EngineBind, EngineListener, RouteSlot } from './engine.ts';
import { InFlight } from './in-flight.ts';
import type { McpBackend } from './mcp-backend.ts';
import type { LlmBackend } from './llm-backend.ts';
import { sendMirrors } from './mirror.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { recordRequestBody, recordResponseBody } from './recorded-bodies.ts';
import { finish } from './report.ts';
import type { Runtime } from './runtime.ts';
import { joinTrace } from './spans.ts';
import * as tracing from './tracing.ts';
import { openConnectTunnel, takeOverUpgrade } from './tunnel.ts';

const bindNotFound = refuse(404, 'NotFound', 'bind not found');
const listenerNotFound = refuse(404, 'NotFound', 'listener not found');
const routeNotFound = refuse(404, 'NotFound', 'route not found');
const misdirected = refuse(421, 'InvalidRequest', 'misdirected request');
const methodNotAllowed = refuse(405, 'InvalidRequest', 'method not allowed');
const noValidBackends = refuse(500, 'Internal', 'no valid backends');
const internalError = refuse(500, 'Internal', 'internal error');

/** Starts the life of one request. Never throws; it always ends in one answer. */
export function handleRequest(
  runtime: Runtime,
  request: HttpRequest,
  connection: ConnectionFacts,
  transport: Transport,
): void {
  const { traces } = runtime.init.telemetry;
  const trace = traces.watched() ? beginTrace(runtime, request, connection) : null;
  const exchange = new Exchange(request, connection, transport, trace);
  if (trace !== null) trace.about(exchange);
  void run(new InFlight(runtime, exchange));
}

function beginTrace(runtime: Runtime, request: HttpRequest, connection: ConnectionFacts): Recorder | null {
  const now = performance.now();
  return runtime.init.telemetry.traces.begin(runtime.nextRequestId(), now, () =>
    arrivalContext(request, connection, now),
  );
}

/** The life of a request: the order of the steps is the order of this file. */
async function run(flight: InFlight): Promise<void> {
  try {
    const response = await answer(flight);
    if (response !== null) await respond(flight, response);
  } catch (error) {
    failed(flight, error);
  }
}

// ── the request ──

/** The response, or null when the connection was taken over. */
async function answer(flight: InFlight): Promise<HttpResponse | null> {
  const { trace } = flight.exchange;
  if (trace !== null) tracing.begin(flight, trace);
  const misplaced = place(flight);
  if (misplaced !== null) return flight.refuse(misplaced);
  const { listener } = flight;
  if (listener === null) return flight.refuse(listenerNotFound);
  const { request: steps } = listener.gateway;
  if (steps.length > 0) {
    const running = runRequest(steps, flight.exchange);
    const outcome = running instanceof Promise ? await running : running;
    if (outcome.kind === 'fail') return flight.refuse(outcome.refusal);
    if (outcome.kind === 'respond') return respondedBy(flight, outcome.policy, outcome.response);
  }
  if (trace !== null) tracing.snapshot(flight, 'gateway policies');
  const matched = listener.table.match(flight.exchange.request);
  if (trace !== null) tracing.routed(flight, trace, { table: listener.table, matched });
  if (matched === null) return flight.refuse(routeNotFound);
  const astray = choose(flight, listener, matched);
  return astray === null ? applyRoute(flight) : flight.refuse(astray);
}

/** Finds the listener and makes the request independent of its connection. */
function place(flight: InFlight): Refusal | null {
  const { exchange, engine } = flight;
  const { request, connection } = exchange;
  const bind = engine.bind(connection.bind);
  if (bind === undefined) return bindNotFound;
  request.upgrade = stripRequestHopByHop(request.headers);
  const refusal = connection.tls === null ? placeByHost(flight, bind) : placeByTls(flight, bind);
  if (refusal !== null) return refusal;
  const { frontend } = engine.config;
  applyForwardedHeaders(request, connection.sourceAddress, frontend.http.forwardedHeaders);
  if (exchange.trace !== null) tracing.listenerChosen(flight, exchange.trace);
  joinTrace(flight, exchange.trace);
  if (exchange.trace !== null) tracing.gatewayPolicies(flight, exchange.trace);
  return request.method === 'CONNECT' && frontend.connect.mode !== 'route' ? methodNotAllowed : null;
}

function placeByHost(flight: InFlight, bind: EngineBind): Refusal | null {
  flight.listener = chooseListener(bind.listeners, hostOf(flight.exchange.request.authority), 'http') ?? null;
  return flight.listener === null ? listenerNotFound : null;
}

/** The handshake has chosen the listener; the request has to belong to it. */
function placeByTls(flight: InFlight, bind: EngineBind): Refusal | null {
  const { request, connection } = flight.exchange;
  const current = bind.listener(connection.tls?.listenerKey ?? '');
  if (current === undefined) return listenerNotFound;
  flight.listener = current;
  if (request.authority === '') return null;
  const placement = placementOf(bind.listeners, current, hostOf(request.authority));
  if (placement === 'ok') return null;
  return placement === 'misdirected' ? misdirected : listenerNotFound;
}

/** Follows route groups, draws the backend and finds what was compiled for both. */
function choose(flight: InFlight, listener: EngineListener, matched: Matched<RouteSlot>): Refusal | null {
  const { exchange, engine } = flight;
  if (!matched.delegates) {
    const program = matched.value.program ?? engine.program(listener, [matched]);
    settle(flight, matched, program);
    const chosen = matched.backends.choose(Math.random);
    flight.backend = chosen === undefined ? null : (program.backends.get(chosen) ?? null);
    return null;
  }
  const facts = { request: exchange.request, groups: engine.groups, random: Math.random };
  const delegation = resolveDelegation(matched, facts);
  const program = engine.program(listener, delegation.chain);
  settle(flight, delegation.chain.at(-1) ?? matched, program);
  if (delegation.kind === 'refused') return delegation.refusal;
  flight.backend = delegation.kind === 'backend' ? (program.backends.get(delegation.backend) ?? null) : null;
  return null;
}

function settle(flight: InFlight, last: Matched<RouteSlot>, program: RouteProgram): void {
  flight.program = program;
  flight.exchange.route = last.route;
  flight.exchange.matchedPath = last.path;
}

async function applyRoute(flight: InFlight): Promise<HttpResponse | null> {
  const { exchange, program } = flight;
  if (program === null) return flight.refuse(routeNotFound);
  if (exchange.trace !== null) tracing.routePolicies(flight, exchange.trace, program);
  const { request: steps } = program.pipeline;
  if (steps.length > 0) {
    const running = runRequest(steps, exchange);
    const outcome = running instanceof Promise ? await running : running;
    if (outcome.kind === 'fail') return flight.refuse(outcome.refusal);
    if (outcome.kind === 'respond') return respondedBy(flight, outcome.policy, outcome.response);
  }
  if (exchange.trace !== null) tracing.snapshot(flight, 'route policies');
  // Policies run even when there is no backend: one of them may have answered.
  if (flight.backend === null) return flight.refuse(noValidBackends);
  return forward(flight, program, flight.backend);
}

function forward(flight: InFlight, program: RouteProgram, chosen: BackendProgram): Promise<HttpResponse | null> {
  const { models } = chosen;
  if (models === null) return forwardTo(flight, program, { backend: chosen, read: null });
  return forwardToModel(flight, program, models);
}

async function forwardToModel(
  flight: InFlight,
  program: RouteProgram,
  models: ModelRouter<BackendProgram>,
): Promise<HttpResponse | null> {
  const resolution = await models.resolve(flight.exchange, readOptions(flight));
  if (resolution.kind === 'refused') return flight.refuse(resolution.refusal);
  if (resolution.kind === 'respond') return respondedBy(flight, 'models', resolution.response);
  flight.backend = resolution.target;
  if (resolution.chosenBy !== null) flight.passedOnBy = flight.engine.virtualModels.get(resolution.chosenBy) ?? null;
  return forwardTo(flight, program, { backend: resolution.target, read: resolution.read });
}

interface Destination {
  readonly backend: BackendProgram;
  /** The body, where finding the backend has read it. */
  readonly read: ReadRequest | null;
}

async function forwardTo(
  flight: InFlight,
  program: RouteProgram,
  { backend, read }: Destination,
): Promise<HttpResponse | null> {
  const { exchange } = flight;
  if (exchange.trace !== null) tracing.backendPolicies(flight, exchange.trace, backend);
  if (exchange.request.method === 'CONNECT') return openConnectTunnel(flight, backend);
  if (backend.pipeline.prepare.length > 0) {
    const running = runRequest(backend.pipeline.prepare, exchange);
    const outcome = running instanceof Promise ? await running : running;
    if (outcome.kind === 'fail') return flight.refuse(outcome.refusal);
  }
  if (backend.mcp !== null) return serveServers(flight, backend, backend.mcp);
  if (backend.llm !== null) {
    const refusal = await beginLlm(flight, backend.llm, read);
    if (refusal !== null) return flight.refuse(refusal);
  }
  recordRequestBody(flight);
  if (program.mirrors.length > 0 || backend.mirrors.length > 0) sendMirrors(flight, program, backend);
  const answered = await callUpstream(flight, program, backend);
  switch (answered.kind) {
    case 'response':
      exchange.answeredByUpstream = true;
      return answered.response;
    case 'upgraded':
      return takeOverUpgrade(flight, answered.response);
    case 'policy':
      return respondedBy(flight, answered.policy, answered.response);
    case 'refused':
      return flight.refuse(answered.refusal);
  }
}

/** A request for MCP servers: the policies of the backend once, those of the connections with each call of a server. */
async function serveServers(flight: InFlight, backend: BackendProgram, mcp: McpBackend): Promise<HttpResponse> {
  const { exchange } = flight;
  const { request: steps } = backend.pipeline;
  if (steps.length > 0) {
    const running = runRequest(steps, exchange);
    const outcome = running instanceof Promise ? await running : running;
    if (outcome.kind === 'fail') return flight.refuse(outcome.refusal);
    if (outcome.kind === 'respond') return respondedBy(flight, outcome.policy, outcome.response);
  }
  recordRequestBody(flight);
  exchange.attributes.mcp = new McpFacts();
  const answered = await mcp.serve(exchange);
  if ('reason' in answered) return flight.refuse(answered);
  exchange.answeredByUpstream = true;
  return answered;
}

/** Reads what has to be understood of a request to a language model. */
function beginLlm(flight: InFlight, backend: LlmBackend, read: ReadRequest | null): Promise<Refusal | null> {
  const { llmContents: contents, config } = flight.engine;
  const { streamIdleTimeoutMs } = config.frontend.http;
  flight.llm = backend.begin(flight.exchange, { ...readOptions(flight), contents, streamIdleTimeoutMs }, read);
  return flight.llm.read(backend.services);
}

function readOptions({ engine }: InFlight): ReadOptions {
  return { limitBytes: engine.config.frontend.http.maxBufferSize, clock: systemClock };
}

function respondedBy(flight: InFlight, policy: string, response: HttpResponse): HttpResponse {
  flight.answeredBy = policy;
  return response;
}

// ── the response ──

/** Response policies run on every answer, the gateway's own included. */
async function respond(flight: InFlight, response: HttpResponse): Promise<void> {
  const { exchange, program, backend, listener } = flight;
  exchange.response = response;
  const steps = program?.responseSteps(backend) ?? listener?.gateway.response ?? [];
  if (steps.length > 0) {
    const running = runResponse(steps, exchange, response);
    const refusal = running instanceof Promise ? await running : running;
    if (refusal !== null) {
      response.body.cancel();
      send(flight, flight.refuse(refusal));
      return;
    }
  }
  send(flight, response);
}

function send(flight: InFlight, response: HttpResponse): void {
  const { exchange } = flight;
  exchange.mergeQueued(response);
  exchange.response = response;
  flight.response = response;
  flight.respondedAt = performance.now();
  recordResponseBody(flight, response);
  if (flight.llm !== null) followPace(flight.llm, response);
  if (exchange.trace !== null) response.body = tracing.finalResponse(flight, exchange.trace, response);
  exchange.transport.respond(response, (delivery) => finish(flight, delivery));
}

/** Notes when parts of a streamed answer reach the transport: nothing of the gateway comes between. */
function followPace({ facts: { streaming, pace } }: LlmCall, response: HttpResponse): void {
  if (streaming) response.body = watchedBody(response.body, () => pace.left(performance.now()));
}

/** A defect or an unforeseen fault: this request fails, nothing else does. */
function failed(flight: InFlight, error: unknown): void {
  const { init } = flight.runtime;
  const stack = error instanceof Error ? error.stack : undefined;
  init.log.scope('engine').error('request failed unexpectedly', { error: messageOf(error), stack });
  if (flight.response === null) send(flight, flight.refuse(internalError));
  else flight.exchange.transport.closeAfterResponse();
}
