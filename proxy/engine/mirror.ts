import { peerOf } from '../backends/connect.ts';
import { accountFinish, outcomeOf, outcomeOfError } from '../backends/health.ts';
import { UpstreamError } from '../backends/upstream.ts';
import type { BufferedBody } from '../exchange/body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { HttpRequest } from '../exchange/message.ts';
import { teeBody } from '../exchange/tee.ts';
import { messageOf } from '../../src/shared/errors.ts';
import type { Recorder } from '../telemetry/recorder.ts';
import type { BackendProgram, MirrorProgram, RouteProgram } from './program.ts';
import { isGrpc } from './refusal-response.ts';
import type { InFlight } from './in-flight.ts';
import { beginCall, endCall } from './spans.ts';

/** A mirror that answers slower than this is given up; nobody waits for it. */
const MIRROR_TIMEOUT_MS = 30_000;

/** Sends copies of the request, body included, beside the main call: once per request, never delaying it. */
export function sendMirrors(flight: InFlight, program: RouteProgram, backend: BackendProgram): void {
  const { exchange } = flight;
  for (const mirror of [...program.mirrors, ...backend.mirrors]) {
    if (!mirror.plan.shouldMirror(Math.random)) {
      exchange.trace?.skipped('request_mirror', `not drawn: ${mirror.plan.details}`);
      continue;
    }
    exchange.trace?.applied('request_mirror', mirror.plan.details);
    const { request, trace } = exchange;
    const copy = { ...request, headers: request.headers.clone() };
    const scoped = trace?.scoped('mirror') ?? null;
    const release = trace?.hold();
    const limit = flight.engine.config.frontend.http.maxBufferSize;
    request.body = teeBody(request.body, limit, (result) => {
      if (result.kind === 'dropped') {
        exchange.trace?.skipped('request_mirror', result.reason, 'warn');
        release?.();
        return;
      }
      void sendMirror(flight, { mirror, copy, body: result.body, trace: scoped }).finally(release);
    });
  }
}

interface MirrorCopy {
  readonly mirror: MirrorProgram;
  readonly copy: InFlight['exchange']['request'];
  readonly body: BufferedBody;
  readonly trace: Recorder | null;
}

async function sendMirror(flight: InFlight, { mirror, copy, body, trace }: MirrorCopy): Promise<void> {
  const { runtime, exchange } = flight;
  const { redaction } = runtime.init.telemetry;
  const { resolved } = mirror;
  const picked = resolved.pick({
    authority: copy.authority,
    scheme: copy.scheme,
    clientVersion: copy.version,
    grpc: isGrpc(copy),
    upgrade: false,
    downstreamTls: exchange.connection.tls !== null,
  });
  if (picked.kind === 'refused') {
    trace?.emit({ type: 'backendCallResult', status: null, error: picked.refusal.message }, 'warn');
    runtime.mirrorOutages.failed(resolved.name, picked.refusal.message);
    return;
  }
  const started = performance.now();
  const start = trace?.now() ?? null;
  trace?.emit({ type: 'backendCallStart', target: peerOf(picked.origin.address) });
  const { origin, endpoint } = picked;
  if (endpoint !== null) runtime.endpoints.started(endpoint.row);
  const request = { ...copy, authority: picked.authorityHost ?? copy.authority, body };
  // Before credentials are made: a signature covers the header that this sets.
  const span = beginCall(flight, request, 'Mirror');
  const unsigned = await notAddressed(mirror, request, exchange);
  if (unsigned !== null) {
    if (span !== null) endCall(span, { request, origin, redaction, result: unsigned });
    if (endpoint !== null)
      accountFinish(runtime.endpoints, endpoint, { outcome: { kind: 'unknown' }, latencyMs: 0 }, Date.now());
    trace?.emit({ type: 'backendCallResult', status: null, error: unsigned.message }, 'warn', start);
    runtime.mirrorOutages.failed(resolved.name, unsigned.message);
    return;
  }
  const call = runtime.pools.send(origin, {
    method: request.method,
    scheme: origin.tls === null ? 'http' : 'https',
    authority: request.authority,
    target: request.target,
    headers: request.headers,
    body,
    upgrade: null,
  });
  const timer = setTimeout(() => call.cancel(), MIRROR_TIMEOUT_MS).unref();
  const account = (outcome: ReturnType<typeof outcomeOf>): void => {
    if (endpoint === null) return;
    accountFinish(runtime.endpoints, endpoint, { outcome, latencyMs: performance.now() - started }, Date.now());
  };
  try {
    const response = await call.response;
    response.body.pipe({ onData() {}, onEnd() {}, onError() {} });
    response.upgraded?.destroy();
    account(outcomeOf(response.status));
    runtime.mirrorOutages.arrived(resolved.name);
    if (span !== null) endCall(span, { request: copy, origin, redaction, result: response.status });
    trace?.emit({ type: 'backendCallResult', status: response.status, error: null }, 'info', start);
  } catch (error) {
    if (span !== null) endCall(span, { request: copy, origin, redaction, result: failureOf(error) });
    account(error instanceof UpstreamError ? outcomeOfError(error) : { kind: 'unknown' });
    runtime.mirrorOutages.failed(resolved.name, messageOf(error));
    trace?.emit({ type: 'backendCallResult', status: null, error: messageOf(error) }, 'warn', start);
  } finally {
    clearTimeout(timer);
    runtime.mirrorDuration.observe((performance.now() - started) / 1000);
  }
}

/** Why a copy cannot be made what its backend takes; null when it is. */
async function notAddressed(
  { address }: MirrorProgram,
  request: HttpRequest,
  exchange: Exchange,
): Promise<Error | null> {
  if (address === null) return null;
  try {
    const refusal = await address(request, exchange);
    return refusal === null ? null : new Error(refusal.message);
  } catch (error) {
    return failureOf(error);
  }
}

function failureOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
