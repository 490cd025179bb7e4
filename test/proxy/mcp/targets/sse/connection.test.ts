import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { endpointPath } from '../../../../../proxy/mcp/targets/sse/endpoint.ts';
import { sseTarget } from '../../../../../proxy/mcp/targets/sse/target.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { Rig } from '../../../backends/rig.ts';
import { ManualClock } from '../../../exchange/build.ts';
import { asked, begun, callOf, initializeParams, poolsCaller, requestOf, Waiting } from '../caller.ts';

const call = callOf('2025-03-26');
const list = requestOf(1, 'tools/list');

let rig: Rig;
let clock: ManualClock;
let stream: ServerResponse;
let posts: string[];

beforeEach(() => {
  rig = new Rig();
  clock = new ManualClock();
  posts = [];
});
afterEach(() => rig.end());

interface Behaviour {
  readonly endpoint?: string | null;
  readonly onPost?: (body: string, response: ServerResponse) => void;
  readonly onGet?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Answers each request with its method over the stream, unless told otherwise. */
async function servedBy({
  endpoint = '/messages?session=1',
  onPost,
  onGet,
}: Behaviour = {}): Promise<TargetConnection> {
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      if (onGet?.(request, response) === true) return;
      stream = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      if (endpoint !== null) response.write(`event: endpoint\ndata: ${endpoint}\n\n`);
      return;
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      posts.push(request.url ?? '');
      if (onPost === undefined) {
        response.writeHead(202).end('Accepted');
        reply(JSON.parse(body));
      } else onPost(body, response);
    });
  });
  const port = await rig.listen(server);
  const caller = poolsCaller(rig.pools(), () => port);
  const options = { name: 'one', path: '/sse', caller, limitBytes: 100_000, clock, openTimeoutMs: 30_000 };
  return sseTarget(options).connect(null);
}

function say(message: object): void {
  stream.write(`event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`);
}

function reply(request: { id?: unknown; method?: string }): void {
  if (request.id !== undefined) say({ id: request.id, result: { method: request.method } });
}

describe('the address of messages', () => {
  const at = { origin: 'http://one.test:8080', path: '/mcp/sse?key=1' };
  test.each([
    ['/messages?session=1', '/messages?session=1'],
    ['?session=1', '/mcp/sse?session=1'],
    ['messages', '/mcp/messages'],
    ['http://one.test:8080/m?x', '/m?x'],
    ['//one.test:8080/m', '/m'],
    [' /m \n', '/m'],
    // Behind something that ends TLS.
    ['https://one.test/m', '/m'],
    ['http://two.test:8080/m', null],
    ['http://one.test:8081/m', null],
    ['//two.test/m', null],
    ['/\\two.test/m', null],
    ['http://me@one.test:8080/m', null],
    ['file:///etc/passwd', null],
    ['javascript:alert(1)', null],
    ['http://[', null],
  ])('%j is %j', (told, path) => {
    expect(endpointPath(at, told)).toBe(path);
  });
});

describe('a conversation', () => {
  test('has one stream, opened by the first message', async () => {
    const connection = await servedBy();
    const answers = await Promise.all([1, 'a', 3].map((id) => asked(connection, requestOf(id, 'tools/list'), call)));
    expect(answers.map(({ result }) => result)).toEqual([1, 2, 3].map(() => ({ method: 'tools/list' })));
    expect(posts).toEqual(['/messages?session=1', '/messages?session=1', '/messages?session=1']);
    await connection.close(null);
  });

  test('skips what it cannot read, answers that nobody waits for and those that come twice', async () => {
    const connection = await servedBy({
      onPost: (body, response) => {
        response.writeHead(202).end();
        stream.write('data: nonsense\n\nevent: other\ndata: {}\n\n: hello\n\n');
        say({ id: 99, result: {} });
        say({ id: null, error: { code: -32700, message: 'what?' } });
        reply(JSON.parse(body));
        reply(JSON.parse(body));
      },
    });
    const { waiting } = begun(connection, list, call);
    expect(await waiting.ended).toBeNull();
    expect(waiting.messages).toHaveLength(1);
    await connection.close(null);
  });

  test('gives notifications to the call whose progress they tell, others to whoever listens', async () => {
    const connection = await servedBy({ onPost: (_body, response) => void response.writeHead(202).end() });
    const stream1 = new Waiting();
    connection.listen(call, stream1);
    const params = { _meta: { progressToken: 't2' } };
    const first = begun(connection, requestOf(1, 'tools/call', { _meta: { progressToken: 't1' } }), call);
    const second = begun(connection, requestOf(2, 'tools/call', params), call);
    await eventually('both have come', () => posts.length === 2);
    say({ method: 'notifications/progress', params: { progressToken: 't2', progress: 1 } });
    say({ method: 'notifications/message', params: {} });
    say({ id: 's', method: 'ping' });
    await stream1.heard('ping');
    expect(second.waiting.messages).toHaveLength(1);
    expect(first.waiting.messages).toHaveLength(0);
    expect(stream1.messages).toHaveLength(2);
    await connection.close(null);
    expect(await first.waiting.ended).toMatchObject({ kind: 'broken' });
    expect(await stream1.ended).toBeNull();
  });

  test('tells the target when a call is given up, and forgets it', async () => {
    const bodies: string[] = [];
    const connection = await servedBy({
      onPost: (body, response) => {
        bodies.push(body);
        response.writeHead(202).end();
      },
    });
    const { calling, waiting } = begun(connection, list, call);
    await eventually('the call has come', () => bodies.length === 1);
    calling.cancel();
    await eventually('the target has been told', () => bodies.some((body) => body.includes('notifications/cancelled')));
    reply({ id: 1 });
    expect(waiting.ends).toBe(0);
    await connection.close(null);
  });
});

describe('a target that', () => {
  test.each([
    ['has no such stream', 404, 'text/plain'],
    ['wants a login', 401, 'application/json'],
  ])('%s is quoted', async (_what, status, type) => {
    const connection = await servedBy({
      onGet: (_request, response) => {
        response.writeHead(status, { 'content-type': type }).end('no');
        return true;
      },
    });
    const { failure } = await asked(connection, list, call);
    expect(failure).toMatchObject({ kind: 'http', status });
  });

  test('answers with a page is broken', async () => {
    const connection = await servedBy({
      onGet: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>hello</h1>');
        return true;
      },
    });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'broken' });
  });

  test('does not say where messages go is given up', async () => {
    const connection = await servedBy({ endpoint: null });
    const { waiting } = begun(connection, list, call);
    await eventually('it is being opened', () => clock.pending === 1);
    clock.advance(30_000);
    expect(await waiting.ended).toMatchObject({ kind: 'broken', message: expect.stringContaining('in time') });
  });

  test('sends messages to another server is broken', async () => {
    const connection = await servedBy({ endpoint: 'http://169.254.169.254/latest' });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'broken' });
    expect(posts).toEqual([]);
  });

  test('refuses a message is quoted', async () => {
    const connection = await servedBy({ onPost: (_body, response) => void response.writeHead(500).end('no') });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'http', status: 500 });
    await connection.close(null);
  });

  test('knows the session no more has forgotten it', async () => {
    const connection = await servedBy({ onPost: (_body, response) => void response.writeHead(404).end('no') });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'forgotten' });
  });

  test('ends its stream breaks what is in flight, and is not asked again before the next handshake', async () => {
    const connection = await servedBy({
      onPost: (body, response) => {
        response.writeHead(202).end();
        if (body.includes('initialize')) reply(JSON.parse(body));
        else stream.destroy();
      },
    });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'broken' });
    expect((await asked(connection, list, call)).failure).toMatchObject({ kind: 'forgotten' });
    const stream2 = new Waiting();
    connection.listen(call, stream2);
    expect(await stream2.ended).toMatchObject({ kind: 'forgotten' });
    expect((await asked(connection, requestOf(2, 'initialize', initializeParams), call)).result).not.toBeNull();
    await connection.close(null);
  });

  test('sends too large an event is broken', async () => {
    const connection = await servedBy({
      onPost: (_body, response) => {
        response.writeHead(202).end();
        stream.write(`data: ${'x'.repeat(200_000)}\n\n`);
      },
    });
    const { failure } = await asked(connection, list, call);
    expect(failure).toMatchObject({ kind: 'broken', message: expect.stringContaining('too large') });
  });
});

test('a stream that is there says so before anything is said on it, and one that is not never does', async () => {
  const opened = Promise.withResolvers<void>();
  const one = await servedBy();
  one.listen(call, { onOpen: () => opened.resolve(), onMessage() {}, onEnd() {} });
  await opened.promise;
  const refused = await servedBy({ onGet: (_request, response) => response.writeHead(503).end() !== undefined });
  const heard: string[] = [];
  const ended = Promise.withResolvers<void>();
  refused.listen(call, { onOpen: () => heard.push('open'), onMessage() {}, onEnd: () => ended.resolve() });
  await ended.promise;
  expect(heard).toEqual([]);
});
