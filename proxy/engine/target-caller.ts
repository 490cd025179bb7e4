import { peerOf } from '../backends/connect.ts';
import { accountFinish, outcomeOf, outcomeOfError, timedOut, type Endpoint, type Outcome } from '../backends/health.ts';
import { explainFailure } from '../backends/refusal.ts';
import type { Picked } from '../backends/resolved.ts';
import { UpstreamError, type UpstreamCall } from '../backends/upstream.ts';
import { BufferedBody, emptyBody } from '../exchange/body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { stripResponseHopByHop } from '../exchange/hop-by-hop.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { TargetCall, TargetFailure } from '../mcp/targets/contract.ts';
import type { HttpAnswer, HttpAsk, HttpCaller, HttpCalling } from '../mcp/targets/http-caller.ts';
import { runRequest } from '../policy/run.ts';
import type { CallSpan } from '../telemetry/spans/request-span.ts';
import type { BackendProgram } from './program.ts';
import type { Runtime } from './runtime.ts';
import { endCall } from './spans.ts';

/** What calls of targets share; `runtime` exists when the first of them is made. */
export interface TargetCallerDeps {
  readonly runtime: () => Runtime;
  /** An exchange without a client, for what the gateway does by itself. */
  readonly unattended: (request: HttpRequest) => Exchange;
}

/** Calls of one target of an MCP backend: the policies of its connection, the endpoint and its account, spans, the trace. */
export class TargetCaller implements HttpCaller {
  readonly #program: BackendProgram;
  readonly #deps: TargetCallerDeps;

  constructor(program: BackendProgram, deps: TargetCallerDeps) {
    this.#program = program;
    this.#deps = deps;
  }

  send(ask: HttpAsk, call: TargetCall | null): HttpCalling {
    const request = requestOf(ask, call);
    const exchange = call?.exchange.onBehalf(request, call.trace) ?? this.#deps.unattended(request);
    const attempt = new TargetAttempt(exchange, this.#program, {
      runtime: this.#deps.runtime(),
      told: ask.told === true,
    });
    return { outcome: attempt.run(), cancel: () => attempt.cancel() };
  }
}

function requestOf({ method, target, headers, body }: HttpAsk, call: TargetCall | null): HttpRequest {
  return {
    method,
    scheme: 'http',
    authority: call?.exchange.clientAuthority ?? '',
    target,
    version: 'HTTP/1.1',
    headers,
    body: body === null || body.byteLength === 0 ? emptyBody : new BufferedBody(body),
    upgrade: null,
  };
}

/** Without the query, which credentials may stand in. */
function lineOf({ method, target }: HttpRequest): { readonly request: string } {
  return { request: `${method} ${target.split('?', 1)[0] ?? ''}` };
}

type Outcomes = HttpAnswer | TargetFailure;

/** One call, up to the head of its answer: what follows may last as long as a session. */
class TargetAttempt {
  readonly #exchange: Exchange;
  readonly #program: BackendProgram;
  readonly #runtime: Runtime;
  /** The trace has its method and path. */
  readonly #told: boolean;
  #call: UpstreamCall | null = null;
  #cancelled = false;
  #expired = false;

  constructor(exchange: Exchange, program: BackendProgram, { runtime, told }: { runtime: Runtime; told: boolean }) {
    this.#exchange = exchange;
    this.#program = program;
    this.#runtime = runtime;
    this.#told = told;
  }

  cancel(): void {
    this.#cancelled = true;
    this.#call?.cancel();
  }

  /** Never rejects. */
  async run(): Promise<Outcomes> {
    try {
      return await this.#run();
    } catch (error) {
      return broken(error instanceof Error ? error.message : String(error));
    } finally {
      this.#exchange.lent?.withdraw(this.#exchange.request);
    }
  }

  async #run(): Promise<Outcomes> {
    const exchange = this.#exchange;
    const { pipeline, resolved } = this.#program;
    if (pipeline.request.length > 0) {
      const running = runRequest(pipeline.request, exchange);
      const outcome = running instanceof Promise ? await running : running;
      if (outcome.kind === 'fail') return refusedBy(outcome.refusal);
      if (outcome.kind === 'respond') return answerOf(outcome.response, exchange.request);
    }
    const { request } = exchange;
    const picked = resolved.pick({
      authority: request.authority,
      scheme: request.scheme,
      clientVersion: request.version,
      grpc: false,
      upgrade: false,
      downstreamTls: false,
    });
    if (picked.kind === 'refused') return refusedBy(picked.refusal);
    rewriteAuthority(exchange, this.#program, picked);
    const span = exchange.spans?.start('Primary', 'Mcp') ?? null;
    if (span !== null) request.headers.set('traceparent', span.traceparent);
    const refusal = pipeline.sign === null ? null : await pipeline.sign(exchange);
    if (refusal !== null) return refusedBy(refusal);
    return this.#cancelled ? broken('the call was given up') : this.#send(picked, span);
  }

  async #send({ origin, endpoint }: Picked, span: CallSpan | null): Promise<Outcomes> {
    const { request, trace } = this.#exchange;
    const runtime = this.#runtime;
    const { redaction } = runtime.init.telemetry;
    const startedAt = performance.now();
    const traceStart = trace?.now() ?? null;
    trace?.emit({ type: 'backendCallStart', target: peerOf(origin.address), ...(this.#told ? lineOf(request) : {}) });
    if (endpoint !== null) runtime.endpoints.started(endpoint.row);
    const timer = this.#limit(this.#program.pipeline.callTimeoutMs);
    const end = (outcome: Outcome): void => {
      if (timer !== null) clearTimeout(timer);
      this.#account(endpoint, { outcome, latencyMs: performance.now() - startedAt });
    };
    const call = runtime.pools.send(origin, {
      method: request.method,
      scheme: origin.tls === null ? 'http' : 'https',
      authority: request.authority,
      target: request.target,
      headers: request.headers,
      body: request.body,
      upgrade: null,
    });
    this.#call = call;
    try {
      const response = await call.response;
      trace?.emit({ type: 'backendCallResult', status: response.status, error: null }, 'info', traceStart);
      if (span !== null) endCall(span, { request, origin, redaction, result: response.status });
      end(outcomeOf(response.status));
      response.upgraded?.destroy();
      stripResponseHopByHop(response.headers);
      return answerOf(response, { ...request, scheme: origin.tls === null ? 'http' : 'https' });
    } catch (error) {
      const failure = error instanceof UpstreamError ? error : new UpstreamError('protocol', String(error));
      const message = this.#expired ? 'the target did not answer in time' : explainFailure(failure);
      trace?.emit({ type: 'backendCallResult', status: null, error: message }, 'error', traceStart);
      if (span !== null) endCall(span, { request, origin, redaction, result: failure });
      end(this.#expired ? timedOut : outcomeOfError(failure));
      return this.#expired ? { kind: 'refused', status: 504, reason: 'Timeout', message } : unreached(failure);
    }
  }

  #limit(ms: number | null): NodeJS.Timeout | null {
    if (ms === null) return null;
    return setTimeout(() => {
      this.#expired = true;
      this.#call?.cancel();
    }, ms);
  }

  #account(endpoint: Endpoint | null, { outcome, latencyMs }: { outcome: Outcome; latencyMs: number }): void {
    const { endpoints, mcpCallDuration } = this.#runtime;
    mcpCallDuration.observe(latencyMs / 1000);
    if (endpoint !== null) accountFinish(endpoints, endpoint, { outcome, latencyMs }, Date.now());
  }
}

/** Hosts are not pinned: they have one endpoint. */
function answerOf(
  response: HttpResponse,
  { scheme, authority }: Pick<HttpRequest, 'scheme' | 'authority'>,
): HttpAnswer {
  return { kind: 'answer', response, pinned: undefined, origin: `${scheme}://${authority}` };
}

function broken(message: string): TargetFailure {
  return { kind: 'broken', message };
}

/** Logs may say where a target is, clients need not know. */
function unreached({ kind, message, peer }: UpstreamError): TargetFailure {
  const failure = { kind: 'broken', message } as const;
  if (kind === 'dns') return { ...failure, shown: 'its host name cannot be resolved' };
  return peer !== null && message.includes(peer) ? { ...failure, shown: 'the connection failed' } : failure;
}

function refusedBy({ status, reason, message }: Refusal): TargetFailure {
  return { kind: 'refused', status, reason, message };
}

/**
 * Targets are asked under their own name or address, unless a policy has decided on another: many refuse requests that
 * name somebody else, as pages do that a name was rebound for.
 */
function rewriteAuthority(
  exchange: Exchange,
  { pipeline }: BackendProgram,
  { origin, authorityHost, autoAuthority }: Picked,
): void {
  const { hostRewrite: mode } = pipeline;
  if (mode === 'off' || (mode === 'default' && exchange.authorityDecided)) return;
  const { address } = origin;
  const own = address.kind === 'unix' ? 'localhost' : peerOf(address);
  exchange.request.authority = (mode === 'auto' ? autoAuthority : authorityHost) ?? own;
}
