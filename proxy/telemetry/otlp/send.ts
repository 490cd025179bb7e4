import { messageOf } from '../../../src/shared/errors.ts';
import { Headers } from '../../exchange/headers.ts';
import { ServiceError, type RpcMethod, type ServiceClient, type ServiceResponse } from '../../services/contract.ts';
import { decodeExportResponse, type PartialSuccess } from './encode.ts';
import type { Send, Sent } from './exporter.ts';
import { retryInfoMs } from './retry-info.ts';

const TIMEOUT_MS = 10_000;
/** Answers hold a few numbers and perhaps a sentence. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const LONGEST_WHY = 200;

const RETRYABLE_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** CANCELLED, DEADLINE_EXCEEDED, ABORTED, OUT_OF_RANGE, UNAVAILABLE, DATA_LOSS. */
const RETRYABLE_GRPC: ReadonlySet<number> = new Set([1, 4, 10, 11, 14, 15]);
/** RESOURCE_EXHAUSTED: worth another try only when the receiver says when. */
const EXHAUSTED = 8;

export type Signal = 'traces' | 'logs';

const METHODS: Readonly<Record<Signal, RpcMethod<Uint8Array, PartialSuccess>>> = {
  traces: exportMethod('/opentelemetry.proto.collector.trace.v1.TraceService/Export'),
  logs: exportMethod('/opentelemetry.proto.collector.logs.v1.LogsService/Export'),
};

/** OTLP/gRPC; `headers` go with every batch as metadata. */
export function sendByGrpc(
  client: ServiceClient,
  { signal, headers }: { readonly signal: Signal; readonly headers: Headers },
): Send {
  const method = METHODS[signal];
  return async (batch, abort) => {
    try {
      const options = { timeoutMs: TIMEOUT_MS, signal: abort, trace: null, metadata: headers.clone() };
      return { kind: 'taken', ...(await client.unary(method, batch, options)) };
    } catch (error) {
      return failed(error);
    }
  };
}

/** OTLP/HTTP with protobuf; `headers` go with every batch. */
export function sendByHttp(client: ServiceClient, { headers, path }: { headers: Headers; path: string }): Send {
  return async (batch, abort) => {
    const all = headers.clone();
    all.set('content-type', 'application/x-protobuf');
    const request = { method: 'POST', target: path, authority: null, headers: all, body: batch };
    const options = { timeoutMs: TIMEOUT_MS, signal: abort, trace: null, maxResponseBytes: MAX_RESPONSE_BYTES };
    try {
      return answered(await client.http(request, options));
    } catch (error) {
      return failed(error);
    }
  };
}

function answered({ status, headers, body }: ServiceResponse): Sent {
  if (status >= 200 && status < 300) return { kind: 'taken', ...partialSuccess(headers, body) };
  const why = `the receiver answered ${status}`;
  if (!RETRYABLE_STATUSES.has(status)) return { kind: 'refused', why };
  return { kind: 'later', afterMs: retryAfterMs(headers.get('retry-after'), Date.now()), why };
}

function partialSuccess(headers: Headers, body: Uint8Array): PartialSuccess {
  const readable = (headers.get('content-type') ?? '').startsWith('application/x-protobuf');
  return readResponse(readable ? body : new Uint8Array());
}

/** A receiver that took the batch but answers in another form has still taken it: sending it again would double it. */
function readResponse(body: Uint8Array): PartialSuccess {
  try {
    return decodeExportResponse(body);
  } catch {
    return { rejected: 0, message: '' };
  }
}

function failed(error: unknown): Sent {
  const why = messageOf(error).slice(0, LONGEST_WHY);
  if (!(error instanceof ServiceError)) return { kind: 'refused', why };
  if (error.kind === 'status') {
    const status = error.grpcStatus ?? 0;
    const afterMs = retryInfoMs(error.grpcDetails);
    const retryable = RETRYABLE_GRPC.has(status) || (status === EXHAUSTED && afterMs !== null);
    return retryable ? { kind: 'later', afterMs, why } : { kind: 'refused', why };
  }
  return error.kind === 'unreachable' || error.kind === 'timeout' || error.kind === 'protocol'
    ? { kind: 'later', afterMs: null, why }
    : { kind: 'refused', why };
}

/** `Retry-After` in milliseconds, seconds or a date (RFC 9110 section 10.2.3); null when it says nothing. */
function retryAfterMs(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

function exportMethod(path: string): RpcMethod<Uint8Array, PartialSuccess> {
  return { path, encode: (batch) => batch, decode: readResponse };
}
