import { formatDuration } from '../../src/shared/duration.ts';
import { outcomeOf, outcomeOfError, timedOut, type Endpoint, type Outcome } from '../backends/health.ts';
import { rateLimitHint } from '../backends/rate-limit-hint.ts';
import type { Picked } from '../backends/resolved.ts';
import { refusalOf } from '../backends/refusal.ts';
import { UpstreamError, type Origin, type UpstreamCall, type UpstreamResponse } from '../backends/upstream.ts';
import { type Body, emptyBody } from '../exchange/body.ts';
import { stripResponseHopByHop } from '../exchange/hop-by-hop.ts';
import type { HttpResponse } from '../exchange/message.ts';
import { refuse, type Refusal } from '../exchange/refusal.ts';
import { ReplayableBody } from '../exchange/replay.ts';
import { clientLeft, requestTimeout, systemClock, waitWithin } from '../exchange/wait.ts';
import type { RetryPlan } from '../policy/retry/compile.ts';
import { runRequest } from '../policy/run.ts';
import { headerGrpcStatus, watchGrpcStatus } from './grpc-status.ts';
import { callAdminRouter } from './internal.ts';
import type { BackendProgram, RouteProgram } from './program.ts';
import { isGrpc } from './refusal-response.ts';
import type { RequestRun } from './run.ts';
import * as tracing from './tracing.ts';

/** What came of calling a backend, retries included. */
export type UpstreamAnswer =
  | { readonly kind: 'response'; readonly response: HttpResponse }
  | { readonly kind: 'upgraded'; readonly response: UpstreamResponse }
  | { readonly kind: 'policy'; readonly policy: string; readonly response: HttpResponse }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly error: UpstreamError | null };

const upstreamCallTimeout = refuse(504, 'Timeout', 'upstream call timeout');

/** Calls the backend, again where the route's retry policy says so. Route policies are not run again, backend policies are. */
export async function callUpstream(
  run: RequestRun,
  program: RouteProgram,
  backend: BackendProgram,
): Promise<UpstreamAnswer> {
  const { retry } = program.pipeline;
  if (retry === null || run.exchange.request.upgrade !== null) return attempt(run, backend, run.exchange.request.body);
  return callWithRetries(run, backend, retry);
}

async function callWithRetries(run: RequestRun, backend: BackendProgram, retry: RetryPlan): Promise<UpstreamAnswer> {
  const { exchange } = run;
  const { request } = exchange;
  const replay = request.body.length === 0 ? null : new ReplayableBody(request.body);
  const { headers, authority, target, method } = request;
  for (let n = 0; ; n++) {
    const last = n >= retry.attempts;
    // Backend policies change the request in place; every attempt starts from what the route policies left.
    if (!last) request.headers = headers.clone();
    else request.headers = headers;
    Object.assign(request, { authority, target, method });
    if (n > 0) request.headers.set('x-retry-attempt', String(n));
    run.retries = n;
    const body = replay === null ? emptyBody : replay.attempt();
    if (last) replay?.seal();
    const answer = await attempt(run, backend, body);
    const replayable = replay === null || replay.canReplay;
    const why = last || !replayable || exchange.clientGone ? null : retryReason(retry, answer);
    if (why === null) {
      replay?.seal();
      return answer;
    }
    exchange.trace?.emit(
      { type: 'policyEvent', kind: 'retry', details: `attempt ${n + 1} of ${retry.attempts + 1} failed: ${why}` },
      'warn',
    );
    discard(run, answer);
    const refusal = retry.backoffMs === 0 ? null : await backOff(run, retry.backoffMs);
    if (refusal !== null) {
      replay?.seal();
      return { kind: 'refused', refusal, error: null };
    }
  }
}

/** Why another attempt is worth it; null when it is not. */
function retryReason(retry: RetryPlan, answer: UpstreamAnswer): string | null {
  if (answer.kind === 'response') {
    const { status } = answer.response;
    return retry.shouldRetry(status) ? `status ${status}` : null;
  }
  if (answer.kind !== 'refused') return null;
  const result = answer.refusal === upstreamCallTimeout ? 'timeout' : answer.error;
  return result !== null && retry.shouldRetry(result) ? answer.refusal.message : null;
}

/** The answer of an attempt that is followed by another. */
function discard(run: RequestRun, answer: UpstreamAnswer): void {
  if (answer.kind !== 'response') return;
  answer.response.body.cancel();
  run.accountAttempt(outcomeOf(answer.response.status));
}

async function backOff(run: RequestRun, backoffMs: number): Promise<Refusal | null> {
  const { trace } = run.exchange;
  const startedAt = trace?.now() ?? null;
  const waited = await waitWithin(run.exchange, backoffMs, systemClock);
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
async function attempt(run: RequestRun, backend: BackendProgram, body: Body): Promise<UpstreamAnswer> {
  const { exchange } = run;
  const steps = backend.pipeline.request;
  if (steps.length > 0) {
    const running = runRequest(steps, exchange);
    const outcome = running instanceof Promise ? await running : running;
    if (outcome.kind === 'fail') return { kind: 'refused', refusal: outcome.refusal, error: null };
    if (outcome.kind === 'respond') return { kind: 'policy', policy: outcome.policy, response: outcome.response };
  }
  if (backend.resolved.kind === 'internal') return callAdminRouter(run, backend.resolved.internalPath, body);
  const { request, connection } = exchange;
  const picked = backend.resolved.pick({
    authority: request.authority,
    scheme: request.scheme,
    clientVersion: request.version,
    grpc: isGrpc(request),
    upgrade: request.upgrade !== null,
    downstreamTls: connection.tls !== null,
  });
  if (picked.kind === 'refused') return { kind: 'refused', refusal: picked.refusal, error: null };
  rewriteAuthority(run, backend, picked);
  run.protocol = picked.origin.protocol === 'http2' ? 'h2' : 'http';
  return new Attempt(run, backend, picked.endpoint).send(picked.origin, body);
}

/** Backends with a host name get it as authority, unless a policy has decided on another. */
function rewriteAuthority(run: RequestRun, backend: BackendProgram, picked: Picked): void {
  const mode = backend.pipeline.hostRewrite;
  if (mode === 'off') return;
  const authority = mode === 'auto' ? picked.autoAuthority : picked.authorityHost;
  if (authority !== null) run.exchange.request.authority = authority;
}

class Attempt {
  readonly #run: RequestRun;
  readonly #backend: BackendProgram;
  readonly #startedAt = performance.now();
  #expired: Refusal | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(run: RequestRun, backend: BackendProgram, endpoint: Endpoint | null) {
    this.#run = run;
    this.#backend = backend;
    run.upstreamStartedAt ??= this.#startedAt;
    run.beginAttempt(endpoint, this.#startedAt);
  }

  async send(origin: Origin, body: Body): Promise<UpstreamAnswer> {
    const run = this.#run;
    const { exchange } = run;
    const { request, trace } = exchange;
    const callStart = trace === null ? null : tracing.callStart(run, trace, origin);
    const call = run.runtime.pools.send(origin, {
      method: request.method,
      scheme: origin.tls === null ? 'http' : 'https',
      authority: request.authority,
      target: request.target,
      headers: request.headers,
      body: trace === null ? body : tracing.requestBody(run, trace, body),
      upgrade: request.upgrade,
      onInformational: request.version === 'HTTP/1.0' ? undefined : run.forwardInformational,
    });
    run.call = call;
    this.#arm(call);
    if (exchange.clientGone) call.cancel();
    try {
      const response = await call.response;
      trace?.emit(
        { type: 'backendCallResult', status: response.status, error: null },
        tracing.statusSeverity(response.status),
        callStart,
      );
      return this.#responded(response);
    } catch (error) {
      const failure =
        error instanceof UpstreamError ? error : new UpstreamError('protocol', String(error), { cause: error });
      trace?.emit(
        { type: 'backendCallResult', status: null, error: this.#expired?.message ?? failure.message },
        'error',
        callStart,
      );
      return this.#failed(failure);
    } finally {
      run.call = null;
      if (this.#timer !== null) clearTimeout(this.#timer);
    }
  }

  /** One timer for whichever limit comes first; none when there is no limit. */
  #arm(call: UpstreamCall): void {
    const { exchange } = this.#run;
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
    const run = this.#run;
    run.upstreamHeadAt = performance.now();
    run.runtime.callDuration.observe((run.upstreamHeadAt - this.#startedAt) / 1000);
    run.endpoint = response.peer;
    if (run.exchange.trace !== null) tracing.rawResponse(run, run.exchange.trace, response);
    if (response.status === 101) return { kind: 'upgraded', response };
    stripResponseHopByHop(response.headers);
    const hint = response.status === 429 ? rateLimitHint(response.headers, Date.now()) : undefined;
    run.attemptAnswered(response.status, headerGrpcStatus(response.headers), hint);
    watchGrpcStatus(response, run.sawGrpcStatus);
    return { kind: 'response', response };
  }

  #failed(failure: UpstreamError): UpstreamAnswer {
    const run = this.#run;
    run.endpoint = failure.peer ?? run.endpoint;
    run.accountAttempt(this.#outcome(failure));
    if (run.exchange.clientGone) return { kind: 'refused', refusal: clientLeft, error: failure };
    if (this.#expired !== null) return { kind: 'refused', refusal: this.#expired, error: null };
    return { kind: 'refused', refusal: refusalOf(failure), error: failure };
  }

  #outcome(failure: UpstreamError): Outcome {
    return this.#expired === null ? outcomeOfError(failure) : timedOut;
  }
}
