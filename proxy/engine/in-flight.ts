import { formatDuration } from '../../src/shared/duration.ts';
import {
  accountFinish,
  outcomeByExpression,
  outcomeOf,
  outcomeOfCut,
  outcomeOfError,
  type Endpoint,
  type Outcome,
} from '../backends/health.ts';
import type { Expression } from '../expression/contract.ts';
import type { EndpointSpending } from '../backends/endpoint-view.ts';
import type { ResolvedBackend } from '../backends/resolved.ts';
import { UpstreamError, type UpstreamCall } from '../backends/upstream.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Progress, RecordedBodies } from '../exchange/progress.ts';
import type { Headers } from '../exchange/headers.ts';
import { stripInterimHead } from '../exchange/hop-by-hop.ts';
import type { HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { LlmCall } from '../llm/call.ts';
import { agentEnvelope } from '../policy/a2a/envelope.ts';
import type { Delivery } from '../exchange/transport.ts';
import type { RequestSpan } from '../telemetry/spans/request-span.ts';
import type { Engine, EngineListener } from './engine.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { type Envelope, refusalResponse } from './refusal-response.ts';
import type { Runtime } from './runtime.ts';

/**
 * One request on its way: what each step finds out stays here for the later ones and for the report at the end. It keeps
 * the engine it began with, whatever is swapped meanwhile.
 */
export class InFlight implements Progress {
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
  respondedAt: number | null = null;
  /** `performance.now()` when the last byte had left. */
  endedAt: number | null = null;
  grpcStatus: number | null = null;
  /** The request's part in a distributed trace; null when it is not sampled. */
  span: RequestSpan | null = null;
  /** The status that a connection was taken over with. */
  tunnelStatus: number | null = null;
  /** The call of a language model, when this is one. */
  llm: LlmCall | null = null;
  /** The account of the virtual model that passed the call on to another, beside that one's own. */
  passedOnBy: Endpoint | null = null;
  /** Limits of tokens have let it pass: further attempts are part of what they counted. */
  tokensAdmitted = false;
  /** Where the thread's list of live requests has it. */
  liveAt = -1;
  /** The call that waits for its response head. */
  call: UpstreamCall | null = null;
  #endpoint: Endpoint | null = null;
  #attemptStartedAt = 0;
  #attemptStatus = 0;
  #head: Pick<HttpResponse, 'status' | 'headers'> | null = null;
  #rateLimitHintMs: number | undefined;
  #bodies: RecordedBodies | null = null;

  constructor(runtime: Runtime, exchange: Exchange) {
    this.runtime = runtime;
    this.engine = runtime.engine;
    this.exchange = exchange;
    exchange.progress = this;
    runtime.live.add(this);
    exchange.transport.onClientGone(this.#clientGone);
  }

  // ── what expressions, logs and traces may know ──

  get startedAt(): number {
    return this.exchange.startedAt;
  }

  get listenerName(): string | null {
    return this.listener?.name ?? null;
  }

  get gatewayName(): string | null {
    return this.listener?.gatewayName ?? null;
  }

  get gatewayNamespace(): string | null {
    return this.listener?.gatewayNamespace ?? null;
  }

  get route(): Progress['route'] {
    return this.exchange.route;
  }

  get backendFacts(): Progress['backendFacts'] {
    const resolved = this.backend?.resolved;
    if (resolved === undefined) return null;
    if (this.llm !== null) return { name: resolved.name, type: 'ai', protocol: 'llm' };
    if (resolved.kind === 'mcp') return { name: resolved.name, type: 'mcp', protocol: 'mcp' };
    const protocol = this.backend?.isAgent === true ? 'a2a' : 'http';
    return { name: resolved.name, type: backendType(resolved.kind), protocol };
  }

  get bodies(): RecordedBodies {
    return (this.#bodies ??= { request: null, requestPrefix: null, response: null, responsePrefix: null });
  }

  /** The gateway's own error as a response; the reason stays for log and metrics. */
  refuse(refusal: Refusal): HttpResponse {
    this.refusal = refusal;
    return refusalResponse(refusal, this.exchange.request, this.#envelopeFor(refusal));
  }

  /** Clients of language models, of MCP and of agents expect errors in the words of their format. */
  #envelopeFor(refusal: Refusal): Envelope | null {
    const { llm, backend, listener } = this;
    const mcp = backend?.mcp ?? null;
    if (mcp !== null) return mcp.envelopeFor(refusal);
    const { request, attributes } = this.exchange;
    if (attributes.a2a !== null || backend?.isAgent === true) return agentEnvelope(attributes.a2a, request);
    const types =
      llm?.types ??
      backend?.models?.types ??
      backend?.llm?.members[0]?.service.types ??
      listener?.llmTypes ??
      undefined;
    return types === undefined ? null : (this.engine.llm?.envelopeFor(this.exchange.clientTarget, types) ?? null);
  }

  /** One line for a person who asks what is going on. */
  describe(now: number): string {
    const { request, startedAt, clientAuthority, lent } = this.exchange;
    const age = formatDuration(Math.round(now - startedAt));
    const path = this.runtime.init.telemetry.redaction.target(request.target, lent?.parameters);
    return `${request.method} ${clientAuthority}${path}: ${this.#state()}, ${age}`;
  }

  #state(): string {
    if (this.response !== null) return 'sending the response';
    return this.call === null ? 'in policies' : 'waiting for the upstream';
  }

  readonly #clientGone = (): void => {
    this.exchange.clientLeft();
    this.call?.cancel();
  };

  readonly forwardInformational = (status: number, headers: Headers): void => {
    stripInterimHead(headers);
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
    if (endpoint === null) return;
    this.runtime.endpoints.started(endpoint.row);
    if (this.passedOnBy !== null) this.runtime.endpoints.started(this.passedOnBy.row);
  }

  attemptAnswered(
    { status, headers }: Pick<HttpResponse, 'status' | 'headers'>,
    grpcStatus: number | null,
    rateLimitHintMs: number | undefined,
  ): void {
    this.#attemptStatus = status;
    this.#head = this.#unhealthy === null ? null : { status, headers: headers.clone() };
    this.grpcStatus = grpcStatus;
    this.#rateLimitHintMs = rateLimitHintMs;
  }

  /** Counts what a call of a language model has used to the service that answered it. */
  spent(spending: EndpointSpending): void {
    if (this.#endpoint === null) return;
    this.runtime.endpoints.spent(this.#endpoint.row, spending);
    if (this.passedOnBy !== null) this.runtime.endpoints.spent(this.passedOnBy.row, spending);
  }

  /** Closes the account of the attempt in hand, if there is one. */
  accountAttempt(outcome: Outcome): void {
    const endpoint = this.#endpoint;
    if (endpoint === null) return;
    this.#endpoint = null;
    const finish = {
      outcome,
      latencyMs: performance.now() - this.#attemptStartedAt,
      rateLimitHintMs: this.#rateLimitHintMs ?? this.llm?.facts.retryDelayMs,
      // None is no hint of how long an endpoint needs.
      retryBackoffMs: this.program?.pipeline.retry?.backoffMs || undefined,
    };
    const now = Date.now();
    accountFinish(this.runtime.endpoints, endpoint, finish, now);
    if (this.passedOnBy !== null) accountFinish(this.runtime.endpoints, this.passedOnBy, finish, now);
  }

  /** Whether a response is one of a healthy endpoint: by the expression of its policy, or by the status. */
  judge(status: number, grpcStatus: number | null = null): Outcome {
    const expression = this.#unhealthy;
    if (expression === null) return outcomeOf(status, grpcStatus);
    const { exchange } = this;
    const { response } = exchange;
    // The head as the endpoint sent it: what policies made of it is not its fault.
    if (this.#head !== null && response !== null) exchange.response = { ...this.#head, body: response.body };
    const unhealthy = expression.isTrue(exchange);
    const outcome = outcomeByExpression(unhealthy);
    if (exchange.trace !== null) {
      const details = `the response counts as ${unhealthy ? 'a failure' : 'a success'} of ${this.endpoint ?? 'the endpoint'}`;
      exchange.trace.emit({ type: 'policyEvent', kind: 'health', details }, unhealthy ? 'warn' : 'info');
    }
    exchange.response = response;
    return outcome;
  }

  get #unhealthy(): Expression | null {
    return this.backend?.pipeline.unhealthy ?? null;
  }

  /** What the endpoint has shown by the end of the body. */
  outcome(delivery: Delivery): Outcome {
    if (this.#attemptStatus >= 500 && this.#unhealthy === null) return outcomeOf(this.#attemptStatus);
    if (delivery.kind === 'complete') {
      const cut = this.llm?.facts.cut ?? null;
      return cut === null ? this.judge(this.#attemptStatus, this.grpcStatus) : outcomeOfCut(cut);
    }
    return delivery.kind === 'cut' && delivery.error instanceof UpstreamError
      ? outcomeOfError(delivery.error)
      : { kind: 'unknown' };
  }
}

/** As expressions call it. */
function backendType(kind: ResolvedBackend['kind']): string {
  if (kind === 'host') return 'static';
  return kind === 'agentCore' ? 'unknown' : kind;
}
