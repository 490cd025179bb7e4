import { peerOf } from '../backends/connect.ts';
import type { EndpointView } from '../backends/endpoint-view.ts';
import { accountFinish, outcomeOfError, timedOut, type Endpoint, type Outcome } from '../backends/health.ts';
import { explainFailure } from '../backends/refusal.ts';
import type { Picked } from '../backends/resolved.ts';
import { UpstreamError, type UpstreamCall, type UpstreamPools, type UpstreamResponse } from '../backends/upstream.ts';
import type { Body } from '../exchange/body.ts';
import type { Headers } from '../exchange/headers.ts';
import type { CallSpan } from '../telemetry/spans/request-span.ts';
import { assertNever } from '../../src/shared/assert-never.ts';
import { messageOf } from '../../src/shared/errors.ts';
import type { Connection } from './connection.ts';
import { type CallOptions, ServiceError } from './contract.ts';

export interface ServiceDeps {
  readonly pools: () => UpstreamPools;
  readonly endpoints: EndpointView;
}

export interface OutgoingCall {
  readonly method: string;
  readonly target: string;
  /** Null takes the service's own. */
  readonly authority: string | null;
  /** The call's own: policies of the connection change them. */
  readonly headers: Headers;
  readonly body: Body;
  readonly http2: boolean;
}

/** Limits of one call in time; null is none. */
export interface CallLimits {
  readonly totalMs: number | null;
  /** Up to the response head. */
  readonly headMs: number | null;
}

/**
 * One call to a service, from the choice of an endpoint to the end of the answer: limits of time, the caller's signal, the
 * endpoint's account, the trace. Whoever reads the answer tells how it ended with `finish`.
 */
export class ServiceCall {
  /** The head of the answer; rejects with a `ServiceError`. */
  readonly response: Promise<UpstreamResponse>;
  readonly #deps: ServiceDeps;
  readonly #connection: Connection;
  readonly #options: CallOptions;
  readonly #endpoint: Endpoint | null;
  readonly #call: UpstreamCall;
  readonly #startedAt = performance.now();
  readonly #traceStart: number | null;
  readonly #totalTimer: NodeJS.Timeout | null;
  readonly #headTimer: NodeJS.Timeout | null;
  readonly #span: CallSpan | null;
  readonly #spanName: string;
  #status: number | null = null;
  #headAt: number | null = null;
  #finished = false;
  /** Why the call was given up from this side. */
  #givenUp: ServiceError | null = null;
  /** The call was given up after its head. */
  onGivenUp: ((error: ServiceError) => void) | null = null;

  /** Throws a `ServiceError` when there is nowhere to send the call. */
  constructor(
    deps: ServiceDeps,
    connection: Connection,
    call: OutgoingCall & { limits: CallLimits; options: CallOptions },
  ) {
    this.#deps = deps;
    this.#connection = connection;
    this.#options = call.options;
    const { trace, signal } = call.options;
    if (signal?.aborted === true) throw givenUpBy(signal);
    const picked = pick(connection, call);
    const { origin, endpoint } = picked;
    this.#span = call.options.spans?.start('Policy', connection.use) ?? null;
    if (this.#span !== null) call.headers.set('traceparent', this.#span.traceparent);
    this.#spanName = call.http2 ? call.target.slice(1) : `${call.method} ${connection.name}`;
    connection.changeHeaders?.(call.headers);
    this.#endpoint = endpoint;
    this.#traceStart = trace?.now() ?? null;
    trace?.emit({ type: 'backendCallStart', target: peerOf(origin.address) });
    if (endpoint !== null) deps.endpoints.started(endpoint.row);
    this.#call = deps.pools().send(origin, {
      method: call.method,
      scheme: origin.tls === null ? 'http' : 'https',
      authority: connection.authority ?? call.authority ?? ownAuthority(picked),
      target: call.target,
      headers: call.headers,
      body: call.body,
      upgrade: null,
    });
    this.#totalTimer = this.#limit(call.limits.totalMs);
    this.#headTimer = this.#limit(call.limits.headMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
    this.response = this.#awaitHead();
  }

  /** Gives the call up for a reason of the caller; nothing happens when it has ended. */
  giveUp(error: ServiceError): void {
    if (this.#finished || this.#givenUp !== null) return;
    this.#givenUp = error;
    this.#call.cancel();
    if (this.#headAt === null) return;
    this.finish(outcomeOfGivingUp(error));
    this.onGivenUp?.(error);
  }

  /** Cuts what is still open of a call that was finished. */
  cut(): void {
    this.#call.cancel();
  }

  /** The answer was read, or has failed: the last word about this call. */
  finish(outcome: Outcome): void {
    if (this.#finished) return;
    this.#finished = true;
    if (this.#totalTimer !== null) clearTimeout(this.#totalTimer);
    if (this.#headTimer !== null) clearTimeout(this.#headTimer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    const headMs = (this.#headAt ?? performance.now()) - this.#startedAt;
    this.#connection.duration?.observe(headMs / 1000);
    if (this.#span !== null) this.#endSpan(this.#span, outcome);
    if (this.#endpoint === null) return;
    // A stream lasts as long as a request: only the way to the head says something about the endpoint.
    accountFinish(this.#deps.endpoints, this.#endpoint, { outcome, latencyMs: headMs }, Date.now());
  }

  /** The failure of the head or of the body, as the caller is told; closes the account. */
  failed(error: unknown): ServiceError {
    if (this.#givenUp !== null) {
      this.finish(outcomeOfGivingUp(this.#givenUp));
      return this.#givenUp;
    }
    if (error instanceof ServiceError) {
      this.finish({ kind: 'unhealthy', error: 'protocol' });
      return error;
    }
    const failure = error instanceof UpstreamError ? error : new UpstreamError('protocol', messageOf(error));
    this.finish(outcomeOfError(failure));
    return serviceErrorOf(failure);
  }

  async #awaitHead(): Promise<UpstreamResponse> {
    const { trace } = this.#options;
    try {
      const response = await this.#call.response;
      this.#headAt = performance.now();
      this.#status = response.status;
      trace?.emit({ type: 'backendCallResult', status: response.status, error: null }, 'info', this.#traceStart);
      if (this.#headTimer !== null) clearTimeout(this.#headTimer);
      response.upgraded?.destroy();
      return response;
    } catch (error) {
      const failure = this.failed(error);
      const text = failure.cause instanceof UpstreamError ? explainFailure(failure.cause) : failure.message;
      trace?.emit({ type: 'backendCallResult', status: null, error: text }, 'warn', this.#traceStart);
      throw failure;
    }
  }

  #endSpan(span: CallSpan, outcome: Outcome): void {
    const status = this.#status;
    const failure = outcome.kind === 'unhealthy' ? outcome.error : outcome.kind === 'unknown' ? 'cancelled' : null;
    span.end({
      name: this.#spanName,
      error: failure === 'status' && status !== null ? String(status) : failure,
      attributes: status === null ? [] : [['http.status', status]],
    });
  }

  #limit(ms: number | null): NodeJS.Timeout | null {
    if (ms === null) return null;
    const expire = (): void => this.giveUp(new ServiceError('timeout', 'the service did not answer in time'));
    return setTimeout(expire, Math.min(ms, LONGEST_TIMER_MS));
  }

  readonly #onAbort = (): void => this.giveUp(givenUpBy(this.#options.signal));
}

/** Timers of Node take no more. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

function pick(
  { resolved, resolvedHttp2 }: Connection,
  { authority, http2 }: Pick<OutgoingCall, 'authority' | 'http2'>,
): Picked {
  const picked = (http2 ? resolvedHttp2 : resolved).pick({
    authority: authority ?? '',
    scheme: 'http',
    clientVersion: 'HTTP/1.1',
    grpc: http2,
    upgrade: false,
    downstreamTls: false,
  });
  if (picked.kind === 'picked') return picked;
  throw new ServiceError('unreachable', picked.refusal.message);
}

/** The name that calls of a service carry unless they say otherwise. Throws a `ServiceError` where there is no endpoint. */
export function authorityOf(connection: Connection): string {
  return connection.authority ?? ownAuthority(pick(connection, { authority: null, http2: false }));
}

/** The service's name, or its address where it has none. */
function ownAuthority({ autoAuthority, authorityHost, origin }: Picked): string {
  const { address } = origin;
  return autoAuthority ?? authorityHost ?? (address.kind === 'unix' ? 'localhost' : peerOf(address));
}

function givenUpBy(signal: AbortSignal | undefined): ServiceError {
  return new ServiceError('cancelled', 'the call was given up', { cause: signal?.reason });
}

function outcomeOfGivingUp(error: ServiceError): Outcome {
  return error.kind === 'timeout' ? timedOut : { kind: 'unknown' };
}

/** Addresses stay out of the message: it may reach a client. The cause has them. */
function serviceErrorOf(failure: UpstreamError): ServiceError {
  switch (failure.kind) {
    case 'dns':
      return new ServiceError('unreachable', 'the name of the service cannot be resolved', { cause: failure });
    case 'connectTimeout':
      return new ServiceError('timeout', 'the service could not be connected to in time', { cause: failure });
    case 'protocol':
      return new ServiceError('protocol', `the service broke the protocol: ${failure.message}`, { cause: failure });
    case 'cancelled':
      return new ServiceError('cancelled', failure.message, { cause: failure });
    case 'connect':
    case 'tls':
    case 'reset':
      return new ServiceError('unreachable', `the service cannot be reached: ${failure.message}`, { cause: failure });
    default:
      return assertNever(failure.kind);
  }
}
