import type { IncomingMessage, ServerResponse } from 'node:http';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { SendMessageRequest, type AgentCard, type StreamResponse } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { startAgent, userMessage } from './a2a-agent.ts';
import { ask, Cleanup, startGateway, upstream } from './gateway.ts';
import { TraceWatch } from './trace-watch.ts';

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const LEGACY = { enabled: true };

async function gateway(routes: string, more = '') {
  const running = cleanup.add(await startGateway(`gateways: {default: {port: 80}}\nroutes: ${routes}\n${more}`));
  return { ...running, base: `http://127.0.0.1:${running.port(80)}` };
}

interface Wish {
  readonly version: '1.0' | '0.3';
  readonly binding: 'JSONRPC' | 'HTTP+JSON';
}

/** A client that has only what is wished for to choose from. */
async function clientOf(base: string, { version, binding }: Wish): Promise<Client> {
  const transports = [
    new JsonRpcTransportFactory({ legacyCompat: LEGACY }),
    new RestTransportFactory({ legacyCompat: LEGACY }),
  ];
  const card = await cardOf(base);
  const supportedInterfaces = card.supportedInterfaces.filter(
    (each) => each.protocolVersion === version && each.protocolBinding === binding,
  );
  return new ClientFactory({ transports }).createFromAgentCard({ ...card, supportedInterfaces });
}

function cardOf(base: string): Promise<AgentCard> {
  return new DefaultAgentCardResolver().resolve(`${base}/`);
}

function message(text: string) {
  return { ...SendMessageRequest.fromJSON({}), message: userMessage(text) };
}

/** What differs from run to run is put aside. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value)
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'),
  );
}

async function all(stream: AsyncGenerator<StreamResponse>): Promise<unknown[]> {
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function failure(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return `${(error as Error).name}: ${(error as Error).message}`; // the SDK throws nothing else
  }
  return 'no failure';
}

/** Everything that a client can do with the agent. */
async function story(client: Client): Promise<unknown> {
  const hello = await client.sendMessage(message('hello'));
  const task = await client.sendMessage(message('task'));
  const streamed = await all(client.sendMessageStream(message('task')));
  const broken = await all(client.sendMessageStream(message('break')));
  const waiting = client.sendMessageStream(message('wait'));
  const { value: first } = await waiting.next();
  const payload = (first as StreamResponse).payload; // the stream has begun
  const id = payload?.$case === 'task' ? payload.value.id : '';
  const config = {
    tenant: '',
    id: 'c1',
    taskId: id,
    url: 'http://127.0.0.1:1/hook',
    token: 't',
    authentication: undefined,
  };
  const push = await client.createTaskPushNotificationConfig(config);
  const configs = await client.listTaskPushNotificationConfig({ tenant: '', taskId: id, pageSize: 0, pageToken: '' });
  const got = await client.getTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'c1' });
  await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'c1' });
  const joined = client.resubscribeTask({ tenant: '', id });
  const { value: resumed } = await joined.next();
  const cancelled = await client.cancelTask({ tenant: '', id, metadata: undefined });
  const rest = await all(waiting);
  const resumedRest = await all(joined);
  const read = await client.getTask({ tenant: '', id });
  const missing = await failure(client.getTask({ tenant: '', id: 'none' }));
  const again = await failure(client.cancelTask({ tenant: '', id, metadata: undefined }));
  return plain({
    hello,
    task,
    streamed,
    broken,
    first,
    push,
    configs,
    got,
    resumed,
    cancelled,
    rest,
    resumedRest,
    read,
    missing,
    again,
  });
}

describe('the clients of the SDK', () => {
  // The SDK writes to the console when an agent breaks.
  beforeEach(() => void jest.spyOn(console, 'error').mockImplementation(() => {}));
  afterEach(() => void jest.restoreAllMocks());

  const wishes: readonly Wish[] = [
    { version: '1.0', binding: 'JSONRPC' },
    { version: '1.0', binding: 'HTTP+JSON' },
    { version: '0.3', binding: 'JSONRPC' },
    { version: '0.3', binding: 'HTTP+JSON' },
  ];
  test.each(wishes)(
    '$binding of version $version: see through the gateway what they see without it',
    async (wish) => {
      const agent = cleanup.add(await startAgent());
      const { base, logged } = await gateway(`[{backends: [{host: "127.0.0.1:${agent.port}", policies: {a2a: {}}}]}]`);
      const direct = await story(await clientOf(`http://127.0.0.1:${agent.port}`, wish));
      const before = agent.asked.length;
      expect(await story(await clientOf(base, wish))).toEqual(direct);
      // All of it went through the gateway: the agent was asked as often as before, by the gateway alone.
      expect(agent.asked.length).toBe(2 * before);
      const older = wish.version === '0.3' && wish.binding === 'JSONRPC';
      await logged(
        `a2a.method=${older ? 'message/stream' : 'SendStreamingMessage'}`,
        'a2a.response.outcome=success',
        'protocol=a2a',
      );
      await logged(
        `a2a.method=${older ? 'tasks/get' : 'GetTask'}`,
        'a2a.response.outcome=error',
        'a2a.response.error_code=',
      );
      await logged(`a2a.method=${older ? 'tasks/resubscribe' : 'SubscribeToTask'}`, 'a2a.response.outcome=success');
      await logged(
        `a2a.method=${older ? 'tasks/cancel' : 'CancelTask'}`,
        'a2a.result.kind=task',
        'a2a.task.state=',
        'a2a.context.id=',
      );
    },
    20_000,
  );
});

describe('the card of an agent', () => {
  test.each(['1.0', '0.3'].flatMap((version) => ['JSONRPC', 'HTTP+JSON'].map((binding) => [binding, version])))(
    'for those who are logged in leads to the gateway too: %s of version %s',
    async (binding, version) => {
      const agent = cleanup.add(await startAgent('/agents/shop'));
      const { base } = await gateway(
        `[{matches: [{path: {pathPrefix: /shop}}], policies: {a2a: {}, urlRewrite: {path: {prefix: /agents/shop}}},
          backends: [{host: "127.0.0.1:${agent.port}"}]}]`,
      );
      const client = await clientOf(`${base}/shop`, { binding, version } as Wish); // one of the four
      const card = await client.getAgentCard();
      expect(card.description).toBe('Sells rare pets');
      expect(new Set(card.supportedInterfaces.map(({ url }) => url))).toEqual(
        new Set([`${base}/shop/rpc`, `${base}/shop/rest`]),
      );
    },
  );

  test('leads to the gateway where its route puts another prefix in place', async () => {
    const agent = cleanup.add(await startAgent('/agents/shop', 'http://shop.internal:9999/agents/shop'));
    const { base } = await gateway(
      `[{matches: [{path: {pathPrefix: /shop}}], policies: {a2a: {}, urlRewrite: {path: {prefix: /agents/shop}}},
        backends: [{host: "127.0.0.1:${agent.port}"}]}]`,
    );
    const card = await cardOf(`${base}/shop`);
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([
      `${base}/shop/rpc`,
      `${base}/shop/rest`,
      `${base}/shop/rpc`,
      `${base}/shop/rest`,
    ]);
    const client = await clientOf(`${base}/shop`, { version: '1.0', binding: 'JSONRPC' });
    expect(await client.sendMessage(message('hello'))).toMatchObject({ messageId: 'r1' });
    expect(agent.asked.at(-1)).toBe('POST /agents/shop/rpc');
  });

  test('names the scheme that the client has used', async () => {
    const agent = cleanup.add(await startAgent());
    const { port } = await gateway(`[{backends: [{host: "127.0.0.1:${agent.port}", policies: {a2a: {}}}]}]`);
    const headers = { 'x-forwarded-proto': 'https', host: 'agents.example' };
    const { body } = await ask(port(80), '/.well-known/agent-card.json', { headers });
    expect(JSON.parse(body).supportedInterfaces[0].url).toBe('https://agents.example/rpc');
  });

  async function served(answer: (request: IncomingMessage, response: ServerResponse) => void, more = '') {
    const agent = cleanup.add(await upstream(answer));
    const running = await gateway(`[{backends: [{host: "127.0.0.1:${agent.port}", policies: {a2a: {}}}]}]`, more);
    return {
      ...running,
      card: (path = '/.well-known/agent.json') => ask(running.port(80), path, { headers: { host: 'g.example' } }),
    };
  }

  test('of the older version has one address, and loses the signature of what it was', async () => {
    const original = {
      name: 'n',
      url: 'http://inner:1/',
      additionalInterfaces: [{ url: 'http://inner:1/rest?x=1' }, { url: 'grpc://inner:2' }],
      signatures: [{}],
    };
    const { card } = await served((_, response) => response.setHeader('etag', '"1"').end(JSON.stringify(original)));
    const { status, body, headers } = await card();
    expect([status, headers['etag'], headers['content-length']]).toEqual([200, undefined, String(body.length)]);
    expect(JSON.parse(body)).toEqual({
      name: 'n',
      url: 'http://g.example',
      additionalInterfaces: [{ url: 'http://g.example/rest?x=1' }, { url: 'grpc://inner:2' }],
    });
  });

  test('is read when it is compressed', async () => {
    const { card } = await served((_, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync('{"url":"http://a/b"}')),
    );
    expect(await card()).toMatchObject({ status: 200, body: '{"url":"http://g.example/b"}' });
  });

  const hostile: readonly (readonly [string, string | Buffer, string])[] = [
    ['is no JSON', '<html>', 'the agent card is not JSON'],
    ['is no object', '[1]', 'the agent card is no object'],
    ['is empty', '', 'the agent card is not JSON'],
    ['has no address', '{"name":"x"}', 'the agent card has no url'],
    [
      'has addresses that are no list',
      '{"supportedInterfaces":{},"url":"http://a"}',
      '`supportedInterfaces` of the agent card is no list',
    ],
    ['is huge', `{"url":"http://a","x":"${'y'.repeat(100_000)}"}`, 'the agent card is longer than 65536 bytes'],
  ];
  test.each(hostile)('that %s becomes a refusal', async (_, text, problem) => {
    const { card } = await served(
      (_request, response) => response.end(text),
      'frontendPolicies: {http: {maxBufferSize: 65536}}',
    );
    expect(await card()).toMatchObject({ status: 503, body: `processing failed: ${problem}` });
  });

  test('with addresses that are none is given as it is', async () => {
    const text =
      '{"supportedInterfaces":[{"url":"::"},{"url":7},null,"x",{"url":"javascript:alert(1)"}],"__proto__":{"a":1}}';
    const { card } = await served((_, response) => response.end(text));
    expect((await card()).body).toBe(text);
  });

  test.each([401, 404, 302, 500])('is not looked for in an answer of status %d', async (status) => {
    const { card } = await served((_, response) =>
      response.writeHead(status, { location: '/.well-known/agent.json' }).end('oh'),
    );
    expect(await card()).toMatchObject({ status, body: 'oh' });
  });

  test('that a call gives leads to the gateway too', async () => {
    const inner = { name: 'n', url: 'http://inner:1/agents/shop/rpc', signatures: [{}] };
    const agent = cleanup.add(
      await upstream((request, response) => {
        const card = request.url?.endsWith('/card') === true ? inner : { jsonrpc: '2.0', id: 1, result: inner };
        response.setHeader('content-type', 'application/json').end(JSON.stringify(card));
      }),
    );
    const { port } = await gateway(
      `[{matches: [{path: {pathPrefix: /shop}}], policies: {a2a: {}, urlRewrite: {path: {prefix: /agents/shop}}},
        backends: [{host: "127.0.0.1:${agent.port}"}]}]`,
    );
    const headers = { host: 'g.example', 'content-type': 'application/json' };
    const body = '{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}';
    const called = await ask(port(80), '/shop/rpc', { method: 'POST', body, headers });
    expect(JSON.parse(called.body)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: { name: 'n', url: 'http://g.example/shop/rpc' },
    });
    const got = await ask(port(80), '/shop/v1/card', { headers });
    expect(JSON.parse(got.body)).toEqual({ name: 'n', url: 'http://g.example/shop/rpc' });
  });

  test('that a call does not give is an error as it is', async () => {
    const text = '{"jsonrpc":"2.0","id":1,"error":{"code":-32007,"message":"none"}}';
    const { port, logged } = await served((_, response) =>
      response.setHeader('content-type', 'application/json').end(text),
    );
    const headers = { 'content-type': 'application/json' };
    const { body } = await ask(port(80), '/', { method: 'POST', body: '{"method":"GetExtendedAgentCard"}', headers });
    expect(body).toBe(text);
    await logged('a2a.method=GetExtendedAgentCard', 'a2a.response.error_code=-32007');
  });

  test('that is cut becomes a refusal', async () => {
    const { card } = await served((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"url":');
      response.socket?.destroySoon();
    });
    expect((await card()).status).toBe(502);
  });
});

describe('a call of an agent', () => {
  const say = (method: unknown) => JSON.stringify({ jsonrpc: '2.0', id: 1, method });

  async function answering(answer: (request: IncomingMessage, response: ServerResponse) => void) {
    const agent = cleanup.add(await upstream(answer));
    const running = await gateway(`[{backends: [{host: "127.0.0.1:${agent.port}", policies: {a2a: {}}}]}]`);
    const post = (body: string, type = 'application/json') =>
      ask(running.port(80), '/', { method: 'POST', body, headers: { 'content-type': type } });
    return { ...running, running, post };
  }

  const echo = (request: IncomingMessage, response: ServerResponse): void => void request.pipe(response);

  test.each([
    ['{"jsonrpc":"2.0","method":"x"', 'application/json', 'unknown'],
    ['[{"method":"a"}]', 'application/json', 'unknown'],
    ['{"method":7}', 'application/json', 'unknown'],
    ['plain', 'text/plain', 'unknown'],
    ['', 'application/json', 'unknown'],
    [say('x'.repeat(500)), 'application/json; charset=utf-8', 'x'.repeat(128)],
    [`{"method":"SendMessage","params":"${'z'.repeat(3_000_000)}"}`, 'application/json', 'unknown'],
  ])('passes unchanged, whatever it is: case %#', async (body, type, method) => {
    const { post, logged } = await answering(echo);
    expect((await post(body, type)).body).toBe(body);
    await logged(`a2a.method=${method} `);
  });

  test.each([
    ['gzip', gzipSync, 'SendMessage'],
    ['br', brotliCompressSync, 'SendMessage'],
    ['zstd', zstdCompressSync, 'SendMessage'],
    ['gzip, gzip', (text: string) => gzipSync(gzipSync(text)), 'unknown'],
    ['gzip', (text: string) => Buffer.from(text), 'unknown'],
    ['gzip', (text: string) => gzipSync(text + ' '.repeat(30_000_000)), 'unknown'],
    ['mystery', (text: string) => Buffer.from(text), 'unknown'],
  ])(
    'is known by its method when it is compressed, and passes unchanged: case %#',
    async (coding, compress, method) => {
      const { running, logged } = await answering(echo);
      const body = compress(say('SendMessage'));
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      const answer = await fetch(`http://127.0.0.1:${running.port(80)}/`, { method: 'POST', headers, body });
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(body);
      await logged(`a2a.method=${method} `);
    },
  );

  test('is counted by method and outcome, whatever clients invent', async () => {
    const { post, stats, logged } = await answering((_, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"x"}}'),
    );
    await post(say('message/send'));
    await post(say('made-up'));
    await logged('a2a.method=made-up', 'a2a.response.error_code=-32001');
    const metrics = await (await fetch(`${stats}/metrics`)).text();
    expect(metrics).toContain('gw_a2a_requests_total{method="message/send",outcome="error"} 1');
    expect(metrics).toContain('gw_a2a_requests_total{method="other",outcome="error"} 1');
    expect(metrics).toMatch(/gw_requests_total\{[^}]*protocol="a2a"/);
  });

  test('gets its events as they come', async () => {
    let more = (): void => {};
    const { base, logged } = await answering((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        'data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}}\n\n',
      );
      more = () =>
        response.end(
          'data: {"result":{"kind":"status-update","status":{"state":"completed"},"final":true}}\n\ndata: oops\n\n',
        );
    });
    const answer = await fetch(base, {
      method: 'POST',
      body: say('message/stream'),
      headers: { 'content-type': 'application/json' },
    });
    const reader = answer.body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toContain('"working"');
    more();
    while ((await reader?.read())?.done === false);
    await logged(
      'a2a.method=message/stream',
      'a2a.response.outcome=success',
      'a2a.result.kind=status-update',
      'a2a.task.state=completed',
      'a2a.context.id=c',
    );
  });

  test('is told to those who watch', async () => {
    const { post, admin } = await answering((_, response) =>
      response.setHeader('content-type', 'application/json').end('{"result":{"message":{"contextId":"c1"}}}'),
    );
    const watch = cleanup.add(await TraceWatch.open(admin));
    await post(say('SendMessage'));
    const events = await watch.finished();
    expect(events).toContain('calls SendMessage');
    const [, details] = /"kind":"a2a","details":(\{.*?\})/.exec(events) ?? [];
    expect(JSON.parse(details ?? 'null')).toEqual({
      method: 'SendMessage',
      binding: 'jsonRpc',
      outcome: 'success',
      resultKind: 'message',
      contextId: 'c1',
    });
  });

  test('to an agent that is not there says so', async () => {
    const { base, logged } = await gateway('[{backends: [{host: "127.0.0.1:1", policies: {a2a: {}}}]}]');
    const answer = await fetch(base, {
      method: 'POST',
      body: say('SendMessage'),
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(503);
    await logged('a2a.method=SendMessage', 'reason=UpstreamFailure');
  });
});
