// A rate limit service: node examples/external-services/rate-limit.js PORT
// It speaks the public protocol over gRPC (envoy.service.ratelimit.v3) and gives two requests to each user. A real one,
// such as one that counts in Redis, takes its place without a change to the gateway.
import { Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

const { root } = protobuf.parse(`
  syntax = "proto3";
  message Request { string domain = 1; repeated Descriptor descriptors = 2; uint32 hits_addend = 3; }
  message Descriptor { repeated Entry entries = 1; }
  message Entry { string key = 1; string value = 2; }
  message Response { Code overall_code = 1; repeated Status statuses = 2; }
  message Status { Code code = 1; Limit current_limit = 2; uint32 limit_remaining = 3; Duration duration_until_reset = 4; }
  message Duration { int64 seconds = 1; }
  message Limit { uint32 requests_per_unit = 1; uint32 unit = 2; }
  enum Code { UNKNOWN = 0; OK = 1; OVER_LIMIT = 2; }
`);
const [Request, Response] = ['Request', 'Response'].map((name) => root.lookupType(name));

const LIMIT = 2;
const HOUR = 3;
const counts = new Map();

function shouldRateLimit({ request }, answer) {
  const statuses = request.descriptors.map(({ entries }) => {
    const name = entries.map(({ key, value }) => `${key}=${value}`).join(',');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    process.stderr.write(`${name}: request ${count}\n`);
    return {
      code: count > LIMIT ? 2 : 1,
      currentLimit: { requestsPerUnit: LIMIT, unit: HOUR },
      limitRemaining: Math.max(0, LIMIT - count),
      durationUntilReset: { seconds: 3600 },
    };
  });
  answer(null, { overallCode: statuses.some(({ code }) => code === 2) ? 2 : 1, statuses });
}

const server = new Server();
server.addService(
  {
    ShouldRateLimit: {
      path: '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit',
      requestStream: false,
      responseStream: false,
      requestSerialize: (message) => Buffer.from(Request.encode(message).finish()),
      requestDeserialize: (bytes) => Request.decode(bytes),
      responseSerialize: (message) => Buffer.from(Response.encode(Response.create(message)).finish()),
      responseDeserialize: (bytes) => Response.decode(bytes),
    },
  },
  { ShouldRateLimit: shouldRateLimit },
);
server.bindAsync(`127.0.0.1:${process.argv[2]}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
});
