// A processor of MCP calls: node examples/external-services/mcp-guard.js PORT
// It speaks gw.dev.ext_mcp over gRPC, of which this is the part that it needs: it refuses arguments that hold a secret,
// and hides numbers of cards in results.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message McpRequest { string method = 2; bytes mcp_request = 4; }
  message McpResponse { string method = 2; bytes mcp_response = 4; }
  message Empty {}
  message Error { int32 code = 1; string reason = 2; }
  message Result { oneof result { Empty pass = 1; bytes mutated = 2; Error error = 3; } }
`);
const [McpRequest, McpResponse, Result] = ['McpRequest', 'McpResponse', 'Result'].map((name) => root.lookupType(name));
const PERMISSION_DENIED = 1;

function judgeRequest({ method, mcpRequest }) {
  process.stderr.write(`asked about ${method}\n`);
  const parameters = Buffer.from(mcpRequest ?? []).toString();
  if (parameters.includes('secret')) return { error: { code: PERMISSION_DENIED, reason: 'no secrets' } };
  return { pass: {} };
}

function judgeResponse({ mcpResponse }) {
  const result = Buffer.from(mcpResponse ?? []).toString();
  const hidden = result.replaceAll(/\b\d{4}( ?\d{4}){3}\b/g, '[card]');
  return hidden === result ? { pass: {} } : { mutated: Buffer.from(hidden) };
}

const unary = (name, Question) => ({
  path: `/gw.dev.ext_mcp.ExtMcp/${name}`,
  requestStream: false,
  responseStream: false,
  requestSerialize: (message) => Buffer.from(Question.encode(message).finish()),
  requestDeserialize: (bytes) => Question.decode(bytes),
  responseSerialize: (message) => Buffer.from(Result.encode(Result.fromObject(message)).finish()),
  responseDeserialize: (bytes) => Result.decode(bytes),
});

const server = new Server();
server.addService(
  { CheckRequest: unary('CheckRequest', McpRequest), CheckResponse: unary('CheckResponse', McpResponse) },
  {
    CheckRequest: ({ request }, answer) => answer(null, judgeRequest(request)),
    CheckResponse: ({ request }, answer) => answer(null, judgeResponse(request)),
  },
);
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.stderr.write(`listening on ${port}\n`);
});
