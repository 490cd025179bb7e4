import {
  Metadata,
  Server,
  ServerCredentials,
  type handleUnaryCall,
  type ServerDuplexStream,
  type ServiceDefinition,
  type StatusObject,
  status,
} from '@grpc/grpc-js';

import type { CheckResponse } from '../../proxy/services/messages/check.ts';
import type { ProcessingResponse } from '../../proxy/services/messages/process.ts';
import type { RateLimitRequest, RateLimitResponse } from '../../proxy/services/messages/rate-limit.ts';
import type { JsonObject } from '../../proxy/exchange/attributes.ts';
import { readMessage, writeMessage } from './envoy-api.ts';

/** A gRPC service on a free port of the loopback, serving a public definition with the library of gRPC. */
export interface PolicyServer {
  readonly port: number;
  /** The decoded requests so far. */
  readonly requests: Record<string, unknown>[];
  /** The initial metadata of each call. */
  readonly metadata: Metadata[];
  close(): void;
}

/** Throw it from a handler to end the call with that status. */
export class StatusError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface TlsFiles {
  readonly key: Buffer;
  readonly cert: Buffer;
  /** Asks for client certificates of that authority. */
  readonly ca?: Buffer;
}

export interface ServeOptions {
  readonly tls?: TlsFiles;
  /** Address to listen on instead of a free port; a path of a socket as `unix:/path`. */
  readonly address?: string;
}

type Handler<O> = (request: Record<string, unknown>, metadata: Metadata) => O | Promise<O>;

/** External authorization: `request` is `CheckRequest`. */
export function serveAuthz(handler: Handler<CheckResponse>, options?: ServeOptions): Promise<PolicyServer> {
  const messages = messagesOf('envoy.service.auth.v3', 'CheckRequest', 'CheckResponse');
  return serveUnary({ path: '/envoy.service.auth.v3.Authorization/Check', ...messages }, handler, options);
}

/** Rate limits: `request` is `RateLimitRequest`. */
export function serveRateLimit(
  handler: (request: RateLimitRequest, metadata: Metadata) => RateLimitResponse | Promise<RateLimitResponse>,
  options?: ServeOptions,
): Promise<PolicyServer> {
  const messages = messagesOf('envoy.service.ratelimit.v3', 'RateLimitRequest', 'RateLimitResponse');
  const path = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
  // `as`: decoded by the public definition that the type describes.
  return serveUnary({ path, ...messages }, (request, metadata) => handler(request as never, metadata), options);
}

/** One stream of external processing, as the server sees it. */
export interface ProcessCall {
  readonly metadata: Metadata;
  /** Calls back for each message, `ProcessingRequest`. */
  onMessage(listener: (message: Record<string, unknown>) => void): void;
  /** The client has ended its side, or cancelled. */
  onEnd(listener: (how: 'ended' | 'cancelled') => void): void;
  send(message: ProcessingResponse): void;
  end(): void;
  fail(code: number, message: string): void;
  /** Stops reading, so that the peer's window fills. */
  pause(): void;
  resume(): void;
}

/** External processing. */
export function serveExtProc(handler: (call: ProcessCall) => void, options?: ServeOptions): Promise<PolicyServer> {
  const messages = messagesOf('envoy.service.ext_proc.v3', 'ProcessingRequest', 'ProcessingResponse');
  const seen: Seen = { requests: [], metadata: [] };
  const method = { ...messages, path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process' };
  const handle = (stream: ServerDuplexStream<Record<string, unknown>, object>): void => {
    seen.metadata.push(stream.metadata);
    // What the peer resets is told by `cancelled`.
    stream.on('error', () => {});
    handler(processCall(stream, seen));
  };
  return serve({ method, streams: true, handle }, seen, options);
}

function processCall(stream: ServerDuplexStream<Record<string, unknown>, object>, seen: Seen): ProcessCall {
  return {
    metadata: stream.metadata,
    onMessage: (listener) =>
      void stream.on('data', (message: Record<string, unknown>) => {
        seen.requests.push(message);
        listener(message);
      }),
    onEnd(listener) {
      stream.once('cancelled', () => listener('cancelled'));
      // A cut ends the readable side as well, before it is told as a cut.
      stream.once('end', () => setImmediate(() => (stream.cancelled ? undefined : listener('ended'))));
    },
    send: (message) => void stream.write(wireForm(message)),
    end: () => void stream.end(),
    fail: (code, message) => void stream.emit('error', { code, details: message, metadata: new Metadata() }),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
  };
}

interface Seen {
  readonly requests: Record<string, unknown>[];
  readonly metadata: Metadata[];
}

interface MethodMessages {
  readonly request: string;
  readonly response: string;
}

function messagesOf(scope: string, request: string, response: string): MethodMessages {
  return { request: `${scope}.${request}`, response: `${scope}.${response}` };
}

function serveUnary<O extends object>(
  method: MethodMessages & { readonly path: string },
  handler: Handler<O>,
  options?: ServeOptions,
): Promise<PolicyServer> {
  const seen: Seen = { requests: [], metadata: [] };
  const handle: handleUnaryCall<Record<string, unknown>, object> = (call, callback) => {
    seen.requests.push(call.request);
    seen.metadata.push(call.metadata);
    const answer = async (): Promise<void> => {
      const [error, message] = await answered(() => handler(call.request, call.metadata));
      callback(error, message);
    };
    void answer();
  };
  return serve({ method, streams: false, handle }, seen, options);
}

/** What the library's callback takes. */
async function answered(
  handle: () => object | Promise<object>,
): Promise<[Partial<StatusObject>, null] | [null, object]> {
  try {
    return [null, wireForm(await handle())];
  } catch (error) {
    const code = error instanceof StatusError ? error.code : status.INTERNAL;
    return [{ code, details: error instanceof Error ? error.message : String(error) }, null];
  }
}

interface Served {
  readonly method: MethodMessages & { readonly path: string };
  readonly streams: boolean;
  readonly handle: unknown;
}

function serve({ method, streams, handle }: Served, seen: Seen, options: ServeOptions = {}): Promise<PolicyServer> {
  const definition: ServiceDefinition = {
    call: {
      path: method.path,
      requestStream: streams,
      responseStream: streams,
      requestSerialize: (message: object) => writeMessage(method.request, message),
      requestDeserialize: (bytes: Buffer) => readMessage(method.request, bytes),
      responseSerialize: (message: object) => writeMessage(method.response, message),
      responseDeserialize: (bytes: Buffer) => readMessage(method.response, bytes),
    },
  };
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  // `as`: the library's handlers are typed per kind of method, this one serves both.
  server.addService(definition, { call: handle as never });
  const { tls } = options;
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(
          tls.ca ?? null,
          [{ private_key: tls.key, cert_chain: tls.cert }],
          tls.ca !== undefined,
        );
  return new Promise((resolve, reject) => {
    server.bindAsync(options.address ?? '127.0.0.1:0', credentials, (error, port) => {
      if (error === null) resolve({ port, ...seen, close: () => server.forceShutdown() });
      else reject(error);
    });
  });
}

/** Turns the JSON of dynamic metadata into Structs. */
function wireForm(message: object): object {
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => {
      if (name === 'okResponse' && isObject(value)) return [name, wireForm(value)];
      return [name, name === 'dynamicMetadata' && isObject(value) ? { fields: structFields(value) } : value];
    }),
  );
}

function structFields(object: object): Record<string, object> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, structValue(value)]));
}

function structValue(value: unknown): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') return { numberValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (Array.isArray(value)) return { listValue: { values: value.map(structValue) } };
  return isObject(value) ? { structValue: { fields: structFields(value) } } : { nullValue: 0 };
}

/** The JSON of a decoded Struct. */
export function structJson(struct: unknown): JsonObject {
  const fields = isObject(struct) ? Reflect.get(struct, 'fields') : undefined;
  if (!isObject(fields)) return {};
  // `as`: what the definitions allow in a Struct is JSON.
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, valueJson(value)])) as JsonObject;
}

function valueJson(value: unknown): unknown {
  if (!isObject(value)) return null;
  const [[kind, inner] = ['nullValue', null]] = Object.entries(value);
  if (kind === 'structValue') return structJson(inner);
  if (kind === 'listValue') {
    const values: unknown = isObject(inner) ? Reflect.get(inner, 'values') : undefined;
    return Array.isArray(values) ? values.map(valueJson) : [];
  }
  return kind === 'nullValue' ? null : inner;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}
