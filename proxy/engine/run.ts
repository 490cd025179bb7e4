import type { Refusal } from '../exchange/refusal.ts';
import { refuse } from '../exchange/refusal.ts';
import { accountFinish, outcomeOf, outcomeOfError, type Endpoint, type Outcome } from '../backends/health.ts';
import { UpstreamError, type UpstreamCall } from '../backends/upstream.ts';
import type { Headers } from '../exchange/headers.ts';
import { Exchange } from '../exchange/exchange.ts';
import { applyForwardedHeaders } from '../exchange/forwarded.ts';
import { stripRequestHopByHop } from '../exchange/hop-by-hop.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import type { Delivery, Transport } from '../exchange/transport.ts';
import { formatDuration } from '../../src/shared/duration.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { chooseListener, hostOf, placementOf } from '../listener/choose.ts';
import { runRequest, runResponse } from '../policy/run.ts';
import { resolveDelegation } from '../routing/delegation.ts';
import type { Matched } from '../routing/table.ts';
import { callUpstream, type UpstreamAnswer } from './attempts.ts';
import { sendMirrors } from './mirror.ts';
import type { Engine, EngineListener, RouteSlot } from './engine.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { refusalResponse } from './refusal-response.ts';
import type { Runtime } from './runtime.ts';
import { reportFinish } from './report.ts';
import * as tracing from './tracing.ts';
import { openConnectTunnel, takeOverUpgrade } from './tunnel.ts';

const bindNotFound = refuse(404, 'NotFound', 'bind not found');
const listenerNotFound = refuse(404, 'NotFound', 'listener not found');
const routeNotFound = refuse(404, 'NotFound', 'route not found');
const misdirected = refuse(421, 'InvalidRequest', 'misdirected request');
const methodNotAllowed = refuse(405, 'InvalidRequest', 'method not allowed');
const noValidBackends = refuse(500, 'Internal', 'no valid backends');

/** Starts the life of one request. Never throws; it always ends in one answer. */
export function handleRequest(
  runtime: Runtime,
  request: HttpRequest,
  connection: ConnectionFacts,
  transport: Transport,
): void {
  const { traces } = runtime.init.telemetry;
  const trace = traces.watched() ? traces.begin(runtime.nextRequestId(), performance.now()) : null;
  const run = new RequestRun(runtime, new Exchange(request, connection, transport, trace));
  void run.run();
}

/**
 * One request from its arrival to its log record. The order of the steps is the order of this file's methods; what they
 * find out stays here for the report at the end. It keeps the engine it began with, whatever is swapped meanwhile.
 */
export class RequestRun {
  readonly runtime: Runtime;
  readonly engine: Engine;
  readonly exchange: Exchange;
  listener: EngineListener | null = null;
  program: RouteProgram | null = null;
  backend: BackendProgram | null = null;
  /** `ip:port` or socket path that answered, or was tried last. */
  endpoint: string | null = null;
  /** What was spoken upstream. */
  protocol = '';
  refusal: Refusal | null = null;
  /** A policy answered by itself (redirect, direct response). */
  answeredBy: string | null = null;
  retries = 0;
  /** `performance.now()` at the start of the first upstream call and at the last response head. */
  upstreamStartedAt: number | null = null;
  upstreamHeadAt: number | null = null;
  response: HttpResponse | null = null;
  /** `performance.now()` when the response was handed to the transport. */
  respondedAt = 0;
  grpcStatus: number | null = null;
  /** The status that a connection was taken over with. */
  tunnelStatus: number | null = null;
  /** The call that waits for its response head. */
  call: UpstreamCall | null = null;
  #endpoint: Endpoint | null = null;
  #attemptStartedAt = 0;
  #attemptStatus = 0;
  #rateLimitHintMs: number | undefined;

  constructor(runtime: Runtime, exchange: Exchange) {
    this.runtime = runtime;
    this.engine = runtime.engine;
    this.exchange = exchange;
    runtime.live.add(this);
    exchange.transport.onClientGone(this.#clientGone);
  }

  async run(): Promise<void> {
    try {
      const response = await this.#answer();
      if (response === null) return;
      await this.#finishResponse(response);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** A defect or an unforeseen fault: this request fails, nothing else does. */
  #failed(error: unknown): void {
    this.runtime.init.log
      .scope('engine')
      .error('request failed unexpectedly', { error: messageOf(error), stack: stackOf(error) });
    if (this.response !== null) {
      this.exchange.transport.closeAfterResponse();
      return;
    }
    this.#send(this.refuse(refuse(500, 'Internal', 'internal error')));
  }

  // ── the request ──

  /** The response, or null when the connection was taken over. */
  async #answer(): Promise<HttpResponse | null> {
    const { exchange } = this;
    if (exchange.trace !== null) tracing.begin(this, exchange.trace);
    const placed = this.#place();
    if (placed !== null) return this.refuse(placed);
    const matched = this.#route();
    if (matched === null) return this.refuse(routeNotFound);
    const chosen = this.#choose(matched);
    if (chosen !== null) return this.refuse(chosen);
    return this.#applyRoute();
  }

  /** Finds the listener and makes the request independent of its connection. */
  #place(): Refusal | null {
    const { exchange, engine } = this;
    const { request, connection } = exchange;
    const bind = engine.bind(connection.bind);
    if (bind === undefined) return bindNotFound;
    request.upgrade = stripRequestHopByHop(request.headers);
    const host = hostOf(request.authority);
    if (connection.tls === null) {
      this.listener = chooseListener(bind.listeners, host, 'http') ?? null;
      if (this.listener === null) return listenerNotFound;
    } else {
      const current = bind.listener(connection.tls.listenerKey);
      this.listener = current ?? null;
      if (current === undefined) return listenerNotFound;
      if (request.authority !== '') {
        const placement = placementOf(bind.listeners, current, host);
        if (placement !== 'ok') return placement === 'misdirected' ? misdirected : listenerNotFound;
      }
    }
    const { frontend } = engine.config;
    applyForwardedHeaders(request, connection.sourceAddress, frontend.http.forwardedHeaders);
    if (exchange.trace !== null) tracing.placed(this, exchange.trace);
    return request.method === 'CONNECT' && frontend.connect.mode !== 'route' ? methodNotAllowed : null;
  }

  #route(): Matched<RouteSlot> | null {
    const { exchange, listener } = this;
    const matched = listener?.table.match(exchange.request) ?? null;
    if (exchange.trace !== null && listener !== null)
      tracing.routed(this, exchange.trace, { table: listener.table, matched });
    return matched;
  }

  /** Follows route groups, draws the backend and finds what was compiled for both. */
  #choose(matched: Matched<RouteSlot>): Refusal | null {
    const { exchange, listener, engine } = this;
    if (listener === null) return listenerNotFound;
    let last = matched;
    let chosen;
    if (matched.delegates) {
      const facts = { request: exchange.request, groups: engine.groups, random: Math.random };
      const delegation = resolveDelegation(matched, facts);
      last = delegation.chain.at(-1) ?? matched;
      this.program = engine.program(listener, delegation.chain);
      exchange.route = last.route;
      exchange.matchedPath = last.path;
      if (delegation.kind === 'refused') return delegation.refusal;
      chosen = delegation.kind === 'backend' ? delegation.backend : undefined;
    } else {
      this.program = matched.value.program ?? engine.program(listener, [matched]);
      exchange.route = matched.route;
      exchange.matchedPath = matched.path;
      chosen = matched.backends.choose(Math.random);
    }
    this.backend = chosen === undefined ? null : (this.program.backends.get(chosen) ?? null);
    return null;
  }

  async #applyRoute(): Promise<HttpResponse | null> {
    const { exchange, program } = this;
    if (program === null) return this.refuse(routeNotFound);
    const { pipeline } = program;
    if (exchange.trace !== null) tracing.routePolicies(exchange.trace, program);
    if (pipeline.request.length > 0) {
      const running = runRequest(pipeline.request, exchange);
      const outcome = running instanceof Promise ? await running : running;
      if (outcome.kind === 'fail') return this.refuse(outcome.refusal);
      if (outcome.kind === 'respond') return this.#respondedBy(outcome.policy, outcome.response);
    }
    if (exchange.trace !== null) tracing.snapshot(this, 'route policies');
    if (this.backend === null) return this.refuse(noValidBackends);
    return this.#forward(program, this.backend);
  }

  async #forward(program: RouteProgram, backend: BackendProgram): Promise<HttpResponse | null> {
    const { exchange } = this;
    if (exchange.trace !== null) tracing.backendPolicies(exchange.trace, backend);
    if (exchange.request.method === 'CONNECT') return openConnectTunnel(this, backend);
    if (program.mirrors.length > 0 || backend.mirrors.length > 0) sendMirrors(this, program, backend);
    const answer = await callUpstream(this, program, backend);
    return this.#answered(answer);
  }

  #answered(answer: UpstreamAnswer): HttpResponse | null {
    switch (answer.kind) {
      case 'response':
        return answer.response;
      case 'upgraded':
        return takeOverUpgrade(this, answer.response);
      case 'policy':
        return this.#respondedBy(answer.policy, answer.response);
      case 'refused':
        return this.refuse(answer.refusal);
    }
  }

  #respondedBy(policy: string, response: HttpResponse): HttpResponse {
    this.answeredBy = policy;
    return response;
  }

  /** The gateway's own error as a response; the reason stays for log and metrics. */
  refuse(refusal: Refusal): HttpResponse {
    this.refusal = refusal;
    return refusalResponse(refusal, this.exchange.request);
  }

  // ── the response ──

  /** Response policies run on every answer, the gateway's own included. */
  async #finishResponse(response: HttpResponse): Promise<void> {
    const { exchange, program, backend } = this;
    const steps = program === null ? null : program.responseSteps(backend);
    if (steps !== null && steps.length > 0) {
      const running = runResponse(steps, exchange, response);
      const refusal = running instanceof Promise ? await running : running;
      if (refusal !== null) {
        response.body.cancel();
        this.#send(this.refuse(refusal));
        return;
      }
    }
    this.#send(response);
  }

  #send(response: HttpResponse): void {
    const { exchange } = this;
    this.response = response;
    this.respondedAt = performance.now();
    if (exchange.trace !== null) response.body = tracing.finalResponse(this, exchange.trace, response);
    exchange.transport.respond(response, this.#delivered);
  }

  readonly #delivered = (delivery: Delivery): void => {
    this.finish(delivery);
  };

  /** One line for a person who asks what is going on. */
  describe(now: number): string {
    const { request, startedAt } = this.exchange;
    const state =
      this.response !== null ? 'sending the response' : this.call === null ? 'in policies' : 'waiting for the upstream';
    const age = formatDuration(Math.round(now - startedAt));
    const path = this.runtime.init.telemetry.redaction.target(request.target);
    return `${request.method} ${this.exchange.clientAuthority}${path}: ${state}, ${age}`;
  }

  /** The end of the exchange: endpoint, metrics, log, trace. */
  finish(delivery: Delivery): void {
    this.runtime.live.delete(this);
    this.accountAttempt(this.#outcome(delivery));
    reportFinish(this, delivery);
  }

  readonly #clientGone = (): void => {
    this.exchange.clientLeft();
    this.call?.cancel();
  };

  readonly forwardInformational = (status: number, headers: Headers): void => {
    this.exchange.transport.informational(status, headers);
  };

  readonly sawGrpcStatus = (status: number): void => {
    this.grpcStatus = status;
  };

  // ── the endpoint's account ──

  beginAttempt(endpoint: Endpoint | null, startedAt: number): void {
    this.#endpoint = endpoint;
    this.#attemptStartedAt = startedAt;
    this.#attemptStatus = 0;
    if (endpoint !== null) this.runtime.endpoints.started(endpoint.row);
  }

  attemptAnswered(status: number, grpcStatus: number | null, rateLimitHintMs: number | undefined): void {
    this.#attemptStatus = status;
    this.grpcStatus = grpcStatus;
    this.#rateLimitHintMs = rateLimitHintMs;
  }

  /** Closes the account of the attempt in hand, if there is one. */
  accountAttempt(outcome: Outcome): void {
    const endpoint = this.#endpoint;
    if (endpoint === null) return;
    this.#endpoint = null;
    const finish = {
      outcome,
      latencyMs: performance.now() - this.#attemptStartedAt,
      rateLimitHintMs: this.#rateLimitHintMs,
      retryBackoffMs: this.program?.pipeline.retry?.backoffMs,
    };
    accountFinish(this.runtime.endpoints, endpoint, finish, Date.now());
  }

  /** What the endpoint showed, by the end of the body. */
  #outcome(delivery: Delivery): Outcome {
    if (this.#attemptStatus >= 500) return outcomeOf(this.#attemptStatus);
    if (delivery.kind === 'complete') return outcomeOf(this.#attemptStatus, this.grpcStatus);
    return delivery.kind === 'cut' && delivery.error instanceof UpstreamError
      ? outcomeOfError(delivery.error)
      : { kind: 'unknown' };
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? '') : '';
}
