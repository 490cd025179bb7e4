import { peerOf } from '../backends/connect.ts';
import { accountFinish, type Outcome, outcomeOf, outcomeOfError } from '../backends/health.ts';
import type { Picked } from '../backends/resolved.ts';
import { type UpstreamCall, UpstreamError } from '../backends/upstream.ts';
import type { BufferedBody } from '../exchange/body.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { teeBody } from '../exchange/tee.ts';
import { messageOf } from '../../src/shared/errors.ts';
import { runRequest } from '../policy/run.ts';
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

/** Who a copy goes to, in the words of its backend; a text says why it goes nowhere. */
interface Addressed {
  readonly picked: Picked;
  readonly exchange: Exchange;
}

async function sendMirror(flight: InFlight, parts: MirrorCopy): Promise<void> {
  const { mirror, trace } = parts;
  const { runtime } = flight;
  const { name } = mirror.resolved;
  const addressed = await addressOf(flight, parts).catch(messageOf);
  if (typeof addressed !== 'string') return callMirror(flight, parts, addressed);
  trace?.emit({ type: 'backendCallResult', status: null, error: addressed }, 'warn');
  runtime.mirrorOutages.failed(name, addressed);
}

/** Runs the policies of the backend over the copy and chooses an endpoint, as for a backend of a route. */
async function addressOf(flight: InFlight, { mirror, copy, body, trace }: MirrorCopy): Promise<Addressed | string> {
  const { resolved, pipeline } = mirror;
  const exchange = flight.exchange.onBehalf({ ...copy, body }, trace);
  // A copy goes on without the client that it is of, and what is found out about it stays its own.
  exchange.clientGone = false;
  const { request, attributes } = exchange;
  // `as`: a record without a prototype.
  const own = Object.create(null) as Record<string, unknown>;
  if (attributes.metadata !== null) attributes.metadata = Object.assign(own, attributes.metadata);
  const stopped = pipeline.request.length === 0 ? null : await runRequest(pipeline.request, exchange);
  if (stopped?.kind === 'fail') return stopped.refusal.message;
  if (stopped?.kind === 'respond') return `${stopped.policy} answers for the backend`;
  const picked = resolved.pick({
    authority: request.authority,
    scheme: request.scheme,
    clientVersion: request.version,
    grpc: isGrpc(request),
    upgrade: false,
    downstreamTls: exchange.connection.tls !== null,
  });
  if (picked.kind === 'refused') return picked.refusal.message;
  if (!pipeline.keepsAuthority && !exchange.authorityDecided)
    request.authority = picked.authorityHost ?? request.authority;
  return { picked, exchange };
}

async function callMirror(flight: InFlight, parts: MirrorCopy, { picked, exchange }: Addressed): Promise<void> {
  const { runtime } = flight;
  const { redaction } = runtime.init.telemetry;
  const { trace, mirror } = parts;
  const { resolved, pipeline } = mirror;
  const { request } = exchange;
  const { origin, endpoint } = picked;
  const started = performance.now();
  const start = trace?.now() ?? null;
  trace?.emit({ type: 'backendCallStart', target: peerOf(origin.address) });
  if (endpoint !== null) runtime.endpoints.started(endpoint.row);
  // Before the signature, which covers the header that this sets.
  const span = beginCall(flight, request, 'Mirror');
  const account = (outcome: Outcome): void => {
    if (endpoint === null) return;
    accountFinish(runtime.endpoints, endpoint, { outcome, latencyMs: performance.now() - started }, Date.now());
  };
  let call: UpstreamCall | null = null;
  const limitMs = Math.min(pipeline.callTimeoutMs ?? MIRROR_TIMEOUT_MS, MIRROR_TIMEOUT_MS);
  const timer = setTimeout(() => call?.cancel(), limitMs).unref();
  try {
    const refusal = pipeline.sign === null ? null : await pipeline.sign(exchange);
    if (refusal !== null) throw new Error(refusal.message);
    call = runtime.pools.send(origin, {
      method: request.method,
      scheme: origin.tls === null ? 'http' : 'https',
      authority: request.authority,
      target: request.target,
      headers: request.headers,
      body: request.body,
      upgrade: null,
    });
    const response = await call.response;
    exchange.lent?.withdraw(request);
    response.body.pipe({ onData() {}, onEnd() {}, onError() {} });
    response.upgraded?.destroy();
    account(outcomeOf(response.status));
    runtime.mirrorOutages.arrived(resolved.name);
    if (span !== null) endCall(span, { request, origin, redaction, result: response.status });
    trace?.emit({ type: 'backendCallResult', status: response.status, error: null }, 'info', start);
  } catch (error) {
    exchange.lent?.withdraw(request);
    if (span !== null) endCall(span, { request, origin, redaction, result: failureOf(error) });
    account(error instanceof UpstreamError ? outcomeOfError(error) : { kind: 'unknown' });
    runtime.mirrorOutages.failed(resolved.name, messageOf(error));
    trace?.emit({ type: 'backendCallResult', status: null, error: messageOf(error) }, 'warn', start);
  } finally {
    clearTimeout(timer);
    // What is not sent is not a call.
    if (call !== null) runtime.mirrorDuration.observe((performance.now() - started) / 1000);
  }
}

function failureOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error));
}
