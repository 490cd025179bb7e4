/** What a request does in a distributed trace: whether it takes part, its own span, those of its calls to backends. */
import { peerOf } from '../backends/connect.ts';
import { UpstreamError, type Origin } from '../backends/upstream.ts';
import { splitAuthority, pathOf, type HttpRequest } from '../exchange/message.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import { RequestSpan, type CallSpan } from '../telemetry/spans/request-span.ts';
import type { Attribute } from '../telemetry/spans/span.ts';
import { parseTraceparent, type TraceContext } from '../telemetry/spans/trace-context.ts';
import type { Redaction } from '../telemetry/redaction.ts';
import { isGrpc } from './refusal-response.ts';
import type { InFlight } from './in-flight.ts';

/** Longer ones are not carried into spans; they go upstream untouched. */
const MAX_TRACE_STATE = 8192;

/**
 * Decides at the head of a request whether it is part of a trace. When it is, the backend is told of the gateway's span
 * instead of the client's; otherwise headers stay as they came.
 */
export function joinTrace(flight: InFlight, trace: Recorder | null): void {
  const { exchange, engine } = flight;
  const { sampler, spans } = engine.observability;
  const { headers } = exchange.request;
  const came = headers.has('traceparent');
  if (!came && sampler.never && (trace === null || engine.config.frontend.tracing === undefined)) return;
  const parent = came ? clientContext(headers.getAll('traceparent')) : null;
  const decision = sampler.decide(parent, exchange);
  trace?.emit({ type: 'traceSampling', decision });
  if (decision !== 'sample (client)' && decision !== 'sample (random)') return;
  // State of a trace that does not go on belongs to nothing (W3C Trace Context 4.2).
  if (parent === null) headers.remove('tracestate');
  const traceState = parent === null ? '' : headers.getAll('tracestate').join(',');
  const span = new RequestSpan({
    parent,
    traceState: traceState.length > MAX_TRACE_STATE ? '' : traceState,
    ids: flight.runtime.spanIds,
  });
  flight.span = span;
  headers.set('traceparent', span.traceparent);
  if (spans !== null && span.recorded) exchange.spans = span;
}

/** Several make none valid (W3C Trace Context 4.2). */
function clientContext(values: readonly string[]): TraceContext | null {
  const [value = ''] = values;
  return values.length === 1 ? parseTraceparent(value) : null;
}

/** Begins the span of a call to a backend, which then tells the backend about itself; null when none is exported. */
export function beginCall(
  flight: InFlight,
  request: HttpRequest,
  kind: 'Primary' | 'Mirror' = 'Primary',
): CallSpan | null {
  const call = flight.exchange.spans?.start(kind, kind === 'Primary' && flight.llm !== null ? 'Llm' : 'Http') ?? null;
  if (call !== null) request.headers.set('traceparent', call.traceparent);
  return call;
}

/** What a call to a backend came to: the status of its answer, or why there is none. */
export function endCall(
  call: CallSpan,
  {
    request,
    origin,
    redaction,
    result,
  }: {
    readonly request: Pick<HttpRequest, 'method' | 'authority' | 'target'>;
    readonly origin: Origin;
    readonly redaction: Redaction;
    readonly result: number | Error;
  },
): void {
  const status: readonly Attribute[] = typeof result === 'number' ? [['http.status', result]] : [];
  call.end({
    name: `${request.method} ${peerOf(origin.address)}`,
    error: typeof result === 'number' ? (result >= 500 ? String(result) : null) : failureKind(result),
    attributes: [
      ['http.method', request.method],
      ['http.host', splitAuthority(request.authority).host],
      ['http.path', redaction.target(request.target)],
      ...status,
    ],
  });
}

function failureKind(error: Error): string {
  return error instanceof UpstreamError ? error.kind : 'failed';
}

/** The name of a request's own span: few different ones, whatever clients ask for. */
export function spanName(flight: InFlight): string {
  const { request, matchedPath, clientMethod, clientTarget } = flight.exchange;
  if (matchedPath === null) return 'unknown';
  if (isGrpc(request)) return pathOf(clientTarget).slice(1);
  const { kind, value } = matchedPath;
  const shown = kind === 'pathPrefix' ? `${value.endsWith('/') ? value : `${value}/`}*` : value;
  return `${clientMethod} ${shown}`;
}
