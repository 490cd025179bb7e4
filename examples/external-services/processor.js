// An external processor: node examples/external-services/processor.js PORT
// It speaks the public protocol over gRPC (envoy.service.ext_proc.v3), of which it needs a part: it names the team that
// the gateway tells it to the backend, says how risky the request is, and refuses bodies that hold a secret.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request {
    Headers request_headers = 2; Headers response_headers = 3; Body request_body = 4; Body response_body = 5;
    map<string, Struct> attributes = 9;
  }
  message Headers { bool end_of_stream = 3; }
  message Body { bytes body = 1; bool end_of_stream = 2; }
  message Response {
    oneof response { Answer request_headers = 1; Answer response_headers = 2; Answer request_body = 3; Immediate immediate_response = 7; }
    Struct dynamic_metadata = 8;
  }
  message Answer { Common response = 1; }
  message Common { Mutation header_mutation = 2; }
  message Mutation { repeated Set set_headers = 1; repeated string remove_headers = 2; }
  message Set { Header header = 1; }
  message Header { string key = 1; bytes raw_value = 3; }
  message Immediate { Status status = 1; bytes body = 3; }
  message Status { int32 code = 1; }
  message Struct { map<string, Value> fields = 1; }
  message Value { string string_value = 3; }
`);
const [Request, Response] = ['Request', 'Response'].map((name) => root.lookupType(name));

function answer({ requestHeaders, responseHeaders, requestBody, attributes }) {
  if (requestHeaders) {
    const team = attributes['envoy.filters.http.ext_proc']?.fields['team']?.stringValue ?? 'none';
    process.stderr.write(`a request of team ${team}\n`);
    const setHeaders = [{ header: { key: 'x-caller', rawValue: Buffer.from(team) } }];
    return {
      requestHeaders: { response: { headerMutation: { setHeaders } } },
      dynamicMetadata: { fields: { risk: { stringValue: team === 'none' ? 'high' : 'low' } } },
    };
  }
  if (requestBody && Buffer.from(requestBody.body).includes('secret')) {
    return { immediateResponse: { status: { code: 403 }, body: Buffer.from('no secrets\n') } };
  }
  return requestBody ? { requestBody: {} } : responseHeaders ? { responseHeaders: {} } : null;
}

function converse(stream) {
  stream.on('error', () => {});
  stream.on('data', (message) => {
    const said = answer(message);
    if (said !== null) stream.write(said);
  });
  stream.on('end', () => stream.end());
}

const server = new Server();
server.addService(
  {
    Process: {
      path: '/envoy.service.ext_proc.v3.ExternalProcessor/Process',
      requestStream: true,
      responseStream: true,
      requestSerialize: (message) => Buffer.from(Request.encode(message).finish()),
      requestDeserialize: (bytes) => Request.decode(bytes),
      responseSerialize: (message) => Buffer.from(Response.encode(Response.fromObject(message)).finish()),
      responseDeserialize: (bytes) => Response.decode(bytes),
    },
  },
  { Process: converse },
);
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stderr.write(`listening on ${port}\n`);
});
