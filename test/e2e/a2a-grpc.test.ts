/** An agent of the SDK over gRPC: its calls pass through, and are told apart by their paths. */
import { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory, type Client } from '@a2a-js/sdk/client';
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc';
import { A2AService, grpcService, UserBuilder } from '@a2a-js/sdk/server/grpc';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { afterEach, expect, jest, test } from '@jest/globals';

import { agentAt, userMessage } from './a2a-agent.ts';
import { Cleanup, startGateway } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const overGrpc = (url: string) => ({ url, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: '' });

async function startGrpcAgent(): Promise<number> {
  const server = new Server();
  const requestHandler = agentAt('http://inner', [overGrpc('inner:1')]);
  server.addService(A2AService, grpcService({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  cleanup.add({ close: () => server.forceShutdown() });
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) =>
      error === null ? resolve(port) : reject(error),
    ),
  );
}

function clientAt(port: number): Promise<Client> {
  const supportedInterfaces = [overGrpc(`127.0.0.1:${port}`)];
  const card = AgentCard.fromJSON({ name: 'n', supportedInterfaces, capabilities: { streaming: true } });
  return new ClientFactory({ transports: [new GrpcTransportFactory()] }).createFromAgentCard(card);
}

const message = (text: string) => ({ ...SendMessageRequest.fromJSON({}), message: userMessage(text) });

test('calls over gRPC are named, and what they came to is told', async () => {
  jest.spyOn(console, 'error').mockImplementation(() => {});
  const agent = await startGrpcAgent();
  const { port, logged, stats } = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:${agent}", policies: {a2a: {}}}]}]`,
    ),
  );
  const client = await clientAt(port(80));
  expect(await client.sendMessage(message('hello'))).toMatchObject({ messageId: 'r1' });
  const events: unknown[] = [];
  for await (const event of client.sendMessageStream(message('task'))) events.push(event);
  expect(events.length).toBeGreaterThan(2);
  await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toThrow();
  await logged('a2a.method=SendMessage', 'a2a.response.outcome=success', 'protocol=a2a', 'grpc.status=0');
  await logged('a2a.method=SendStreamingMessage', 'a2a.response.outcome=success');
  await logged('a2a.method=GetTask', 'a2a.response.outcome=error', 'a2a.response.error_code=5');
  const metrics = await (await fetch(`${stats}/metrics`)).text();
  expect(metrics).toContain('gw_a2a_requests_total{method="SendMessage",outcome="success"} 1');
  jest.restoreAllMocks();
});

test('an agent over gRPC that is gone is an error of gRPC', async () => {
  const { port, logged } = cleanup.add(
    await startGateway(
      'gateways: {default: {port: 80}}\nroutes: [{backends: [{host: "127.0.0.1:1", policies: {a2a: {}}}]}]',
    ),
  );
  await expect((await clientAt(port(80))).sendMessage(message('hello'))).rejects.toThrow('14 upstream call failed');
  await logged('a2a.method=SendMessage', 'a2a.response.outcome=error', 'reason=UpstreamFailure');
});
