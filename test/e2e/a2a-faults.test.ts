/** Agents that are gone, slow or strange, and what clients of the SDK make of what the gateway says then. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { AgentCard, SendMessageRequest } from '@a2a-js/sdk';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from '@a2a-js/sdk/client';
import { afterEach, describe, expect, test } from '@jest/globals';

import { userMessage } from './a2a-agent.ts';
import { type Ask, ask, Cleanup, startGateway, upstream } from './gateway.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LEGACY = { enabled: true };

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

async function gatewayTo(port: number, { policies = '', more = '' } = {}) {
  const running = cleanup.add(
    await startGateway(
      `gateways: {default: {port: 80}}
routes: [{policies: {${policies}}, backends: [{host: "127.0.0.1:${port}", policies: {a2a: {}}}]}]
${more}`,
    ),
  );
  const send = (path: string, asked: Ask = {}) => ask(running.port(80), path, asked);
  const post = (body: string | Buffer, headers: Record<string, string> = {}) =>
    send('/', { method: 'POST', body: body as string, headers: { 'content-type': 'application/json', ...headers } });
  return { ...running, base: `http://127.0.0.1:${running.port(80)}`, send, post };
}

async function facing(answer: Answering, options: { policies?: string; more?: string } = {}) {
  const agent = cleanup.add(await upstream(answer));
  return gatewayTo(agent.port, options);
}

const say = (method: string, id: unknown = 1): string => JSON.stringify({ jsonrpc: '2.0', id, method });

describe('an agent that is not there', () => {
  test.each([7, 'seven', null])('is an error of JSON-RPC with the id of the call: %j', async (id) => {
    const { post, logged } = await gatewayTo(1);
    const answer = await post(say('SendMessage', id));
    expect([answer.status, answer.headers['content-type']]).toEqual([503, 'application/json']);
    expect(JSON.parse(answer.body)).toEqual({
      jsonrpc: '2.0',
      id,
      error: { code: -32603, message: expect.any(String) },
    });
    await logged('a2a.method=SendMessage', 'a2a.response.outcome=error', 'reason=UpstreamFailure');
  });

  test('is an error in the words of the HTTP binding, as each version has them', async () => {
    const { send, stats } = await gatewayTo(1);
    const newer = await send('/message:send', { method: 'POST', body: '{}' });
    expect([newer.status, JSON.parse(newer.body)]).toEqual([
      503,
      { error: { code: 503, status: 'UNAVAILABLE', message: expect.any(String) } },
    ]);
    const older = await send('/v1/tasks/t1');
    expect([older.status, JSON.parse(older.body)]).toEqual([503, { code: -32603, message: expect.any(String) }]);
    const metrics = await (await fetch(`${stats}/metrics`)).text();
    expect(metrics).toContain('gw_a2a_requests_total{method="GetTask",outcome="error"} 1');
  });

  test('is plain text for what is no call', async () => {
    const { post, send } = await gatewayTo(1);
    for (const answer of [await post('[1]'), await post('{'), await send('/.well-known/agent-card.json')])
      expect([answer.status, answer.headers['content-type']]).toEqual([503, 'text/plain']);
  });

  const wishes = ['1.0', '0.3'].flatMap((version) => ['JSONRPC', 'HTTP+JSON'].map((binding) => ({ version, binding })));
  test.each(wishes)('is told to clients of the SDK: $binding of version $version', async ({ version, binding }) => {
    const { base, post } = await gatewayTo(1);
    const { message } = (JSON.parse((await post(say('x'))).body) as { error: { message: string } }).error;
    const card = AgentCard.fromJSON({
      name: 'gone',
      supportedInterfaces: [{ url: base, protocolBinding: binding, protocolVersion: version, tenant: '' }],
      capabilities: { streaming: true },
    });
    const transports = [
      new JsonRpcTransportFactory({ legacyCompat: LEGACY }),
      new RestTransportFactory({ legacyCompat: LEGACY }),
    ];
    const client = await new ClientFactory({ transports }).createFromAgentCard(card);
    const asked = { ...SendMessageRequest.fromJSON({}), message: userMessage('hello') };
    await expect(client.sendMessage(asked)).rejects.toThrow(message);
    await expect(client.sendMessageStream(asked).next()).rejects.toThrow(message);
  });
});

describe('a call', () => {
  test('that a policy of the route refuses is refused in the words of its binding', async () => {
    const { post, send, logged } = await facing((_, response) => response.end(), {
      policies: `authorization: {rules: [{deny: 'true'}]}`,
    });
    const called = await post(say('SendMessage'));
    expect([called.status, called.headers['content-type'], JSON.parse(called.body)]).toEqual([
      403,
      'application/json',
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'authorization failed' } },
    ]);
    expect(JSON.parse((await send('/tasks/t1')).body)).toEqual({
      error: { code: 403, status: 'PERMISSION_DENIED', message: 'authorization failed' },
    });
    for (const answer of [await send('/.well-known/agent-card.json'), await send('/')])
      expect(answer).toMatchObject({ status: 403, body: 'authorization failed' });
    await logged('http.status=403', 'reason=Authorization');
  });

  test('that is compressed passes as it is, and is known all the same', async () => {
    const { post, logged } = await facing((request, response) => void request.pipe(response));
    const body = gzipSync(say('SendMessage'));
    expect((await post(body, { 'content-encoding': 'gzip' })).status).toBe(200);
    await logged('a2a.method=SendMessage');
  });

  test('whose stream is cut is cut for the client too', async () => {
    const { base, logged } = await facing((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { kind: 'task', id: 't' } })}\n\n`);
      response.write('data: {"jsonrpc":');
      setImmediate(() => response.socket?.destroy());
    });
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(base, { method: 'POST', body: say('message/stream'), headers });
    await expect(answer.text()).rejects.toThrow();
    await logged('a2a.method=message/stream', 'a2a.result.kind=task', 'error=');
  });

  test('is seen by expressions', async () => {
    const more = `frontendPolicies: {accessLog: {add: {which: 'request.path', protocol2: 'backend.protocol'}}}`;
    const { post, logged } = await facing((_, response) => response.end('{}'), { more });
    await post(say('SendMessage'));
    await logged('which=/', 'protocol2=a2a');
  });
});

describe('a card', () => {
  test('that does not come is waited for as long as the request may take', async () => {
    const { send, logged } = await facing(() => {}, { policies: 'timeout: {requestTimeout: 50ms}' });
    expect((await send('/.well-known/agent-card.json')).status).toBe(504);
    await logged('reason=Timeout');
  });

  test('that does not end is waited for as long as bodies may rest', async () => {
    const { send } = await facing(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"url":');
      },
      { more: 'frontendPolicies: {http: {streamIdleTimeout: 50ms}}' },
    );
    expect((await send('/.well-known/agent-card.json')).status).toBe(504);
  });

  test('without an end is cut at the limit', async () => {
    const { send } = await facing(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.on('error', () => {});
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(16_384)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      { more: 'frontendPolicies: {http: {maxBufferSize: 65536}}' },
    );
    expect(await send('/.well-known/agent-card.json')).toMatchObject({
      status: 503,
      body: 'processing failed: the agent card is longer than 65536 bytes',
    });
  });

  test('asked for by HEAD or another method is not looked at', async () => {
    const { send } = await facing((_, response) =>
      response.setHeader('content-type', 'application/json').end('{"url":1}'),
    );
    expect((await send('/.well-known/agent-card.json', { method: 'HEAD' })).status).toBe(200);
    expect((await send('/.well-known/agent-card.json', { method: 'POST', body: '{}' })).body).toBe('{"url":1}');
  });
});
