import { Metadata, Server, ServerCredentials, type handleUnaryCall, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

import { StatusError } from './envoy.ts';

/** The service as its users are told it, read by the library of protobuf. */
const DEFINITION = `
syntax = "proto3";
package gw.dev.ext_mcp;
import "google/protobuf/empty.proto";
import "google/protobuf/struct.proto";

message Header { string key = 1; bytes value = 2; }
message HeaderMutation { repeated Header set = 1; repeated string remove = 2; }
message AuthorizationError {
  enum Code { UNKNOWN = 0; PERMISSION_DENIED = 1; RESOURCE_EXHAUSTED = 2; INVALID = 3; }
  Code code = 1;
  string reason = 2;
  optional bytes mcp_error = 3;
}
message McpRequest {
  repeated string service_names = 1;
  string method = 2;
  google.protobuf.Struct metadata_context = 3;
  optional bytes mcp_request = 4;
  repeated Header headers = 5;
}
message McpRequestResult {
  oneof result { google.protobuf.Empty pass = 1; bytes mutated = 2; AuthorizationError error = 3; }
  HeaderMutation header_mutation = 4;
  google.protobuf.Struct metadata = 5;
}
message McpResponse {
  repeated string service_names = 1;
  string method = 2;
  google.protobuf.Struct metadata_context = 3;
  bytes mcp_response = 4;
}
message McpResponseResult {
  oneof result { google.protobuf.Empty pass = 1; bytes mutated = 2; AuthorizationError error = 3; }
}
`;

const root = new protobuf.Root();
for (const name of ['google/protobuf/empty.proto', 'google/protobuf/struct.proto'])
  root.addJSON(protobuf.common.get(name)?.nested ?? {});
protobuf.parse(DEFINITION, root, { keepCase: false });

/** A message of the service as data; what was not sent is absent. */
export function readExtMcp(type: string, bytes: Uint8Array): Record<string, unknown> {
  const found = root.lookupType(`gw.dev.ext_mcp.${type}`);
  return found.toObject(found.decode(bytes), { enums: String, oneofs: true });
}

export function writeExtMcp(type: string, message: object): Buffer {
  const found = root.lookupType(`gw.dev.ext_mcp.${type}`);
  return Buffer.from(found.encode(found.fromObject(message)).finish());
}

export interface Asked {
  readonly kind: 'request' | 'response';
  readonly serviceNames: readonly string[];
  readonly method: string;
  readonly metadataContext?: unknown;
  /** Parameters or result; undefined where none were sent. */
  readonly body: unknown;
  /** `name: value`, one for each. */
  readonly headers: readonly string[];
}

/** Bytes are sent as they are. Throw a `StatusError` to end the call with that status. */
export type Handler = (asked: Asked, nth: number) => object | Promise<object>;

export interface ExtMcpServer {
  readonly port: number;
  readonly asked: Asked[];
  /** Metadata of the calls, the oldest first. */
  readonly shown: readonly Record<string, unknown>[];
  /** Calls that the other side has given up. */
  readonly cancelled: Promise<void>;
  close(): void;
}

/** A processor on a port of the loopback, a free one unless told otherwise: a real gRPC server. */
export function serveExtMcp(
  handler: Handler,
  at = 0,
  credentials = ServerCredentials.createInsecure(),
): Promise<ExtMcpServer> {
  const asked: Asked[] = [];
  const shown: Record<string, unknown>[] = [];
  let onCancelled = (): void => {};
  const cancelled = new Promise<void>((resolve) => (onCancelled = resolve));
  const handle =
    (kind: Asked['kind']): handleUnaryCall<Buffer, Buffer> =>
    (call, callback) => {
      call.on('cancelled', onCancelled);
      const question = askedOf(kind, call.request);
      asked.push(question);
      shown.push(call.metadata.getMap());
      const answer = async (): Promise<void> => {
        try {
          const message = await handler(question, asked.length - 1);
          const type = kind === 'request' ? 'McpRequestResult' : 'McpResponseResult';
          callback(null, Buffer.isBuffer(message) ? message : writeExtMcp(type, message));
        } catch (error) {
          const code = error instanceof StatusError ? error.code : status.INTERNAL;
          callback({ code, details: String((error as Error).message), metadata: new Metadata() });
        }
      };
      void answer();
    };
  const server = new Server({ 'grpc.max_receive_message_length': -1 });
  server.addService(
    { request: method('CheckRequest'), response: method('CheckResponse') },
    // `as`: the library's handlers are typed per kind of method.
    { request: handle('request') as never, response: handle('response') as never },
  );
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${at}`, credentials, (error, port) => {
      if (error === null) resolve({ port, asked, shown, cancelled, close: () => server.forceShutdown() });
      else reject(error);
    });
  });
}

function method(name: string) {
  const plain = (bytes: Buffer): Buffer => bytes;
  return {
    path: `/gw.dev.ext_mcp.ExtMcp/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: plain,
    requestDeserialize: plain,
    responseSerialize: plain,
    responseDeserialize: plain,
  };
}

function askedOf(kind: Asked['kind'], bytes: Buffer): Asked {
  const message = readExtMcp(kind === 'request' ? 'McpRequest' : 'McpResponse', bytes);
  const body = message[kind === 'request' ? 'mcpRequest' : 'mcpResponse'] as Buffer | undefined;
  const headers = (message['headers'] ?? []) as readonly { key: string; value: Buffer }[];
  return {
    kind,
    serviceNames: (message['serviceNames'] ?? []) as readonly string[],
    method: String(message['method']),
    ...(message['metadataContext'] === undefined ? {} : { metadataContext: message['metadataContext'] }),
    body: body === undefined ? undefined : JSON.parse(body.toString()),
    headers: headers.map(({ key, value }) => `${key}: ${value.toString()}`),
  };
}
