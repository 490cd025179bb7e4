import { formatDuration } from '../../src/shared/duration.ts';
import { outcomeOfError, timedOut, type Endpoint, type Outcome } from '../backends/health.ts';
import { rateLimitHint } from '../backends/rate-limit-hint.ts';
import type { Picked, ResolvedBackend } from '../backends/resolved.ts';
import { explainFailure, noDynamicTarget, refusalOf } from '../backends/refusal.ts';
import { UpstreamError, type Origin, type UpstreamCall, type UpstreamResponse } from '../backends/upstream.ts';
import { BufferedBody } from '../exchange/body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { stripResponseHopByHop } from '../exchange/hop-by-hop.ts';
import { refuse, type Refusal } from '../exchange/refusal.ts';
import { ReplayableBody } from '../exchange/replay.ts';
import { peerOf } from '../backends/connect.ts';
import { clientLeft, requestTimeout, systemClock, waitWithin } from '../exchange/wait.ts';
import type { CallSpan } from '../telemetry/spans/request-span.ts';
import type { RetryPlan } from '../policy/retry/compile.ts';
import { type NamedStep, runRequest } from '../policy/run.ts';
import { headerGrpcStatus, watchGrpcStatus } from './grpc-status.ts';
import { dynamicTarget } from './dynamic-target.ts';
import { callAdminRouter } from './internal.ts';
import type { LlmCall } from '../llm/call.ts';
import type { LlmBackend } from './llm-backend.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { isGrpc } from './refusal-response.ts';
import type { InFlight } from './in-flight.ts';
import { beginCall, endCall } from './spans.ts';
import * as tracing from './tracing.ts';
import type { UpstreamAnswer } from './upstream-answer.ts';

const upstreamCallTimeout = refuse(504, 'Timeout', 'upstream call timeout');

/** Calls the backend, again where the route's retry policy says so. Route policies are not run again, backend policies are. */
export function callUpstream(
  flight: InFlight,
  program: RouteProgram,
  backend: BackendProgram,
): Promise<UpstreamAnswer> {
  const { retry } = program.pipeline;
  if (retry === null || flight.exchange.request.upgrade !== null || !retry.applies(flight.exchange))
    return attempt(flight, backend);
  return callWithRetries(flight, backend, retry);
}

async function callWithRetries(flight: InFlight, backend: BackendProgram, retry: RetryPlan): Promise<UpstreamAnswer> {
  const { exchange } = flight;
  const { request } = exchange;
  const { headers, authority, target, method, scheme, body } = request;
  // What is in memory as a whole can be sent again as it is.
  const replay = body.length === 0 || body instanceof BufferedBody ? null : new ReplayableBody(body);
  for (let n = 0; ; n++) {
    const last = n >= retry.attempts;
    // Backend policies change the request in place; every attempt starts from what the route policies left.
    if (!last) request.headers = headers.clone();
    else request.headers = headers;
    Object.assign(request, { authority, target, method, scheme, body: replay === null ? body : replay.attempt() });
    if (n > 0) request.headers.set('x-retry-attempt', String(n));
    flight.retries = n;
    if (last) replay?.seal();
    const answer = await attempt(flight, backend);
    const replayable = replay === null || replay.canReplay;
    const why = last || !replayable || exchange.clientGone ? null : retryReason(flight, retry, answer);
    if (why === null) {
      replay?.seal();
      if (exchange.trace !== null) givenUp(flight, retry, { n, answer, replayable });
      return answer;
    }
    exchange.trace?.emit({ type: 'policyEvent', kind: 'retry', details: failedAttempt(n, retry, why) }, 'warn');
    discard(flight, answer);
    const refusal = retry.backoffMs === 0 ? null : await backOff(flight, retry.backoffMs);
    if (refusal !== null) {
      replay?.seal();
      return { kind: 'refused', refusal, error: null };
    }
  }
}

function failedAttempt(n: number, retry: RetryPlan, why: string): string {
  return `attempt ${n + 1} of ${retry.attempts + 1} failed: ${why}`;
}

interface LastAttempt {
  readonly n: number;
  readonly answer: UpstreamAnswer;
  readonly replayable: boolean;
}

/** For a trace: why a failed attempt is not followed by another. */
function givenUp(flight: InFlight, retry: RetryPlan, { n, answer, replayable }: LastAttempt): void {
  const { trace, clientGone } = flight.exchange;
  const why = retryReason(flight, retry, answer);
  if (trace === null || why === null) return;
  const left = clientGone ? 'the client is gone' : replayable ? 'none is left' : 'the body cannot be sent again';
  trace.emit({ type: 'policyEvent', kind: 'retry', details: `${failedAttempt(n, retry, why)}; ${left}` }, 'error');
}

/** Why another attempt is worth it; null when it is not. */
function retryReason(flight: InFlight, retry: RetryPlan, answer: UpstreamAnswer): string | null {
  if (answer.kind === 'response') return retry.responseFault(flight.exchange);
  if (answer.kind !== 'refused') return null;
  const result = answer.refusal === upstreamCallTimeout ? 'timeout' : answer.error;
  return result !== null && retry.isRetryable(result) ? answer.refusal.message : null;
}

/** The answer of an attempt that is followed by another. */
function discard(flight: InFlight, answer: UpstreamAnswer): void {
  if (answer.kind !== 'response') return;
  answer.response.body.cancel();
  flight.accountAttempt(flight.judge(answer.response.status));
  flight.exchange.response = null;
}

async function backOff(flight: InFlight, backoffMs: number): Promise<Refusal | null> {
  const { trace } = flight.exchange;
  const startedAt = trace?.now() ?? null;
  const waited = await waitWithin(flight.exchange, backoffMs, systemClock);
  const cut = waited === 'elapsed' ? '' : ', cut short';
  trace?.emit(
    { type: 'policyEvent', kind: 'retry', details: `backed off ${formatDuration(backoffMs)}${cut}` },
    'info',
    startedAt,
  );
  if (waited === 'elapsed') return null;
  return waited === 'deadline' ? requestTimeout : clientLeft;
}

/** One call: backend policies, the choice of an endpoint, the request out and the response head in. */
function attempt(flight: InFlight, backend: BackendProgram): Promise<UpstreamAnswer> {
  return backend.llm === null ? attemptHttp(flight, backend) : attemptLlm(flight, backend, backend.llm);
}

async function attemptHttp(flight: InFlight, backend: BackendProgram): Promise<UpstreamAnswer> {
  const stopped = backend.pipeline.request.length === 0 ? null : await meetPolicies(flight, backend);
  if (stopped !== null) return stopped;
  const { resolved } = backend;
  if (resolved.kind === 'internal') return callAdminRouter(flight, resolved.internalPath);
  return dispatch(flight, backend, { resolved, affinity: affinityOf(flight.exchange, backend) });
}

/** One call of a language model: one of the backend's services, the request as it wants it, the answer as the client does. */
async function attemptLlm(flight: InFlight, backend: BackendProgram, llm: LlmBackend): Promise<UpstreamAnswer> {
  const { exchange } = flight;
  const call = flight.llm;
  if (call === null) throw new Error('a call of a language model has not begun');
  const affinity = affinityOf(exchange, backend);
  const member = llm.choose(affinity);
  if (!('program' in member)) return { kind: 'refused', refusal: member, error: null };
  const { service, program } = member;
  flight.backend = program;
  const stopped = program.pipeline.request.length === 0 ? null : await meetPolicies(flight, program);
  if (stopped !== null) return stopped;
  const asking = call.request(service);
  const outcome = asking instanceof Promise ? await asking : asking;
  if (outcome.kind !== 'next') exchange.lent?.withdraw(exchange.request);
  if (outcome.kind === 'fail') return { kind: 'refused', refusal: outcome.refusal, error: null };
  if (outcome.kind === 'respond') return { kind: 'policy', policy: outcome.policy, response: outcome.response };
  const limits = limitsOfTokens(flight, call);
  const refused = limits.length === 0 ? null : await meetTokenLimits(flight, limits);
  if (refused !== null) return refused;
  const answer = await dispatch(flight, program, { resolved: member.resolved(call.asked), affinity });
  if (answer.kind !== 'response') return answer;
  const taking = call.answer(answer.response);
  const refusal = taking instanceof Promise ? await taking : taking;
  return refusal === null ? answer : { kind: 'refused', refusal, error: null };
}

/** Once for all attempts; counting tokens is free. */
function limitsOfTokens(
  { program, tokensAdmitted }: InFlight,
  { asked: { routeType } }: LlmCall,
): readonly NamedStep[] {
  const free = tokensAdmitted || routeType === 'anthropicTokenCount' || routeType === 'geminiCountTokens';
  return free ? [] : (program?.pipeline.tokens ?? []);
}

/** Null when the call may be made. */
async function meetTokenLimits(flight: InFlight, limits: readonly NamedStep[]): Promise<UpstreamAnswer | null> {
  const { exchange } = flight;
  const outcome = await runRequest(limits, exchange);
  if (outcome.kind === 'fail') {
    exchange.lent?.withdraw(exchange.request);
    return { kind: 'refused', refusal: outcome.refusal, error: null };
  }
  flight.tokensAdmitted = true;
  return null;
}

/** Backend policies; null when the call may be made. */
async function meetPolicies(flight: InFlight, { pipeline }: BackendProgram): Promise<UpstreamAnswer | null> {
  const { exchange } = flight;
  const running = runRequest(pipeline.request, exchange);
  const outcome = running instanceof Promise ? await running : running;
  if (outcome.kind !== 'next') exchange.lent?.withdraw(exchange.request);
  if (outcome.kind === 'fail') return { kind: 'refused', refusal: outcome.refusal, error: null };
  if (outcome.kind === 'respond') return { kind: 'policy', policy: outcome.policy, response: outcome.response };
  return null;
}

/** Chooses an endpoint and sends the request as it is now. */
async function dispatch(
  flight: InFlight,
  backend: BackendProgram,
  { resolved, affinity }: { readonly resolved: ResolvedBackend; readonly affinity: string | undefined },
): Promise<UpstreamAnswer> {
  const { exchange } = flight;
  const { request, connection } = exchange;
  const target = dynamicTarget(exchange, backend);
  if (target === null) return { kind: 'refused', refusal: noDynamicTarget, error: null };
  const picked = resolved.pick({
    authority: request.authority,
    scheme: request.scheme,
    clientVersion: request.version,
    grpc: isGrpc(request),
    upgrade: request.upgrade !== null,
    downstreamTls: connection.tls !== null,
    affinity,
    target,
  });
  if (picked.kind === 'refused') return { kind: 'refused', refusal: picked.refusal, error: null };
  if (affinity !== undefined && exchange.trace !== null)
    exchange.trace.applied('session_affinity', `bound to ${peerOf(picked.origin.address)}${sourceOf(backend)}`);
  rewriteAuthority(flight, backend, picked);
  // Before credentials are made: a signature covers the header that this sets.
  const span = beginCall(flight, request);
  flight.protocol = picked.origin.protocol === 'http2' ? 'h2' : 'http';
  const { sign } = backend.pipeline;
  if (sign !== null) {
    const refusal = await sign(exchange);
    if (refusal !== null) {
      exchange.lent?.withdraw(request);
      if (span !== null) endUnsent(flight, span, { origin: picked.origin, refusal });
      return { kind: 'refused', refusal, error: null };
    }
  }
  return new Attempt(flight, backend, { endpoint: picked.endpoint, span }).send(picked.origin);
}

/** A call that never left: nothing was there to sign it with. */
function endUnsent(
  flight: InFlight,
  span: CallSpan,
  { origin, refusal }: { readonly origin: Origin; readonly refusal: Refusal },
): void {
  const { redaction } = flight.runtime.init.telemetry;
  const result = new UpstreamError('cancelled', refusal.message);
  endCall(span, { request: flight.exchange.request, origin, redaction, result });
}

/** Undefined leaves the choice of an endpoint to the balance, as where there is nothing to bind by. */
function affinityOf(exchange: Exchange, { pipeline }: BackendProgram): string | undefined {
  const value = pipeline.affinity?.scalarText(exchange);
  if (value === null && exchange.trace !== null)
    exchange.trace.skipped('session_affinity', 'the source gives no value: the endpoint is balanced');
  return value ?? undefined;
}

function sourceOf({ pipeline }: BackendProgram): string {
  return ` (from ${pipeline.effective.sources.sessionAffinity ?? ''})`;
}

/** Backends with a host name get it as authority, unless a policy has decided on another. */
function rewriteAuthority(flight: InFlight, backend: BackendProgram, picked: Picked): void {
  const mode = backend.pipeline.hostRewrite;
  if (mode === 'off' || (mode === 'default' && flight.exchange.authorityDecided)) return;
  const authority = mode === 'auto' ? picked.autoAuthority : picked.authorityHost;
  if (authority !== null) flight.exchange.request.authority = authority;
}

class Attempt {
  readonly #flight: InFlight;
  readonly #backend: BackendProgram;
  readonly #startedAt = performance.now();
  readonly #span: CallSpan | null;
  #expired: Refusal | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    flight: InFlight,
    backend: BackendProgram,
    { endpoint, span }: { readonly endpoint: Endpoint | null; readonly span: CallSpan | null },
  ) {
    this.#span = span;
    this.#flight = flight;
    this.#backend = backend;
    flight.upstreamStartedAt ??= this.#startedAt;
    flight.beginAttempt(endpoint, this.#startedAt);
  }

  async send(origin: Origin): Promise<UpstreamAnswer> {
    const flight = this.#flight;
    const { exchange } = flight;
    const { request, trace } = exchange;
    const callStart = trace === null ? null : tracing.callStart(flight, trace, origin);
    const call = flight.runtime.pools.send(origin, {
      method: request.method,
      scheme: origin.tls === null ? 'http' : 'https',
      authority: request.authority,
      target: request.target,
      headers: request.headers,
      body: trace === null ? request.body : tracing.requestBody(flight, trace, request.body),
      upgrade: request.upgrade,
      onInformational: request.version === 'HTTP/1.0' ? undefined : flight.forwardInformational,
    });
    flight.call = call;
    this.#arm(call);
    if (exchange.clientGone) call.cancel();
    try {
      const response = await call.response;
      exchange.lent?.withdraw(request);
      trace?.emit(
        { type: 'backendCallResult', status: response.status, error: null },
        tracing.statusSeverity(response.status),
        callStart,
      );
      this.#endSpan(origin, response.status);
      return this.#responded(response);
    } catch (error) {
      exchange.lent?.withdraw(request);
      const failure =
        error instanceof UpstreamError ? error : new UpstreamError('protocol', String(error), { cause: error });
      trace?.emit(
        { type: 'backendCallResult', status: null, error: this.#expired?.message ?? explainFailure(failure) },
        'error',
        callStart,
      );
      this.#endSpan(origin, failure);
      return this.#failed(failure);
    } finally {
      flight.call = null;
      if (this.#timer !== null) clearTimeout(this.#timer);
    }
  }

  #endSpan(origin: Origin, result: number | UpstreamError): void {
    if (this.#span === null) return;
    const { exchange, runtime } = this.#flight;
    const { redaction } = runtime.init.telemetry;
    endCall(this.#span, { request: exchange.request, origin, redaction, result });
  }

  /** One timer for whichever limit comes first; none when there is no limit. */
  #arm(call: UpstreamCall): void {
    const { exchange } = this.#flight;
    const limit = this.#backend.pipeline.callTimeoutMs ?? Number.POSITIVE_INFINITY;
    const left = exchange.deadlineAt === null ? Number.POSITIVE_INFINITY : exchange.deadlineAt - performance.now();
    const soonest = Math.min(limit, left);
    if (soonest === Number.POSITIVE_INFINITY) return;
    this.#timer = setTimeout(
      () => {
        this.#expired = left <= limit ? requestTimeout : upstreamCallTimeout;
        call.cancel();
      },
      Math.max(0, soonest),
    );
  }

  #responded(response: UpstreamResponse): UpstreamAnswer {
    const flight = this.#flight;
    flight.upstreamHeadAt = performance.now();
    const { callDuration, modelCallDuration } = flight.runtime;
    const duration = flight.llm === null ? callDuration : modelCallDuration;
    duration.observe((flight.upstreamHeadAt - this.#startedAt) / 1000);
    flight.endpoint = response.peer;
    if (flight.exchange.trace !== null) tracing.responseSnapshot(flight, 'raw response', response);
    if (response.status === 101) return { kind: 'upgraded', response };
    stripResponseHopByHop(response.headers);
    if (flight.exchange.trace !== null) tracing.responseSnapshot(flight, 'backend response ready', response);
    const hint = response.status === 429 ? rateLimitHint(response.headers, Date.now()) : undefined;
    flight.attemptAnswered(response, headerGrpcStatus(response.headers), hint);
    watchGrpcStatus(response, flight.sawGrpcStatus);
    flight.exchange.response = response;
    return { kind: 'response', response };
  }

  #failed(failure: UpstreamError): UpstreamAnswer {
    const flight = this.#flight;
    flight.endpoint = failure.peer ?? flight.endpoint;
    flight.accountAttempt(this.#outcome(failure));
    if (flight.exchange.clientGone) return { kind: 'refused', refusal: clientLeft, error: failure };
    if (this.#expired !== null) {
      flight.exchange.trace?.applied('timeout', `${this.#expired.message} while the backend was waited for`, 'error');
      return { kind: 'refused', refusal: this.#expired, error: null };
    }
    return { kind: 'refused', refusal: refusalOf(failure), error: failure };
  }

  #outcome(failure: UpstreamError): Outcome {
    return this.#expired === null ? outcomeOfError(failure) : timedOut;
  }
}
