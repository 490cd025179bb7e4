// Receives what the gateway exports and prints it: node examples/otlp/collector.js GRPC-PORT HTTP-PORT
// A collector of OpenTelemetry takes its place without a change to the gateway.
import http from 'node:http';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Traces { repeated ResourceSpans resources = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scopes = 2; }
  message ScopeSpans { repeated Span items = 2; }
  message Span { string name = 5; repeated Pair attributes = 9; }
  message Logs { repeated ResourceLogs resources = 1; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scopes = 2; }
  message ScopeLogs { repeated Log items = 2; }
  message Log { Value body = 5; repeated Pair attributes = 6; }
  message Resource { repeated Pair attributes = 1; }
  message Pair { string key = 1; Value value = 2; }
  message Value { oneof kind { string text = 1; bool truth = 2; int64 whole = 3; double number = 4; } }
`);
const [Traces, Logs] = ['Traces', 'Logs'].map((name) => root.lookupType(name));

function print(kind, type, bytes) {
  for (const { resource, scopes } of type.toObject(type.decode(bytes), { longs: Number }).resources ?? [])
    for (const { name, body, attributes } of scopes.flatMap(({ items }) => items)) {
      const { 'service.name': service } = object(resource.attributes);
      const shown = ['team', 'http.path', 'http.status', 'gw.outbound.kind'];
      const known = Object.entries(object(attributes)).filter(([key]) => shown.includes(key));
      const facts = known.map(([key, value]) => ` ${key}=${value}`).join('');
      process.stdout.write(`${kind} of ${service}: ${name ?? body.text}${facts}\n`);
    }
}

function object(pairs = []) {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value ?? {})[0]]));
}

const [grpcPort, httpPort] = process.argv.slice(2);

const same = (bytes) => bytes;
const codec = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const server = new Server();
for (const [kind, type, service] of [
  ['span', Traces, 'trace.v1.TraceService'],
  ['record', Logs, 'logs.v1.LogsService'],
]) {
  const path = `/opentelemetry.proto.collector.${service}/Export`;
  const Export = ({ request }, answer) => {
    print(kind, type, request);
    answer(null, Buffer.alloc(0));
  };
  server.addService({ Export: { path, requestStream: false, responseStream: false, ...codec } }, { Export });
}
server.bindAsync(`127.0.0.1:${grpcPort}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
});

http
  .createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const logs = request.url.endsWith('/logs');
    print(logs ? 'record' : 'span', logs ? Logs : Traces, Buffer.concat(chunks));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  })
  .listen(Number(httpPort));
