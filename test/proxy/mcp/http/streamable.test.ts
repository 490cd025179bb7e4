import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { gzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { refuse } from '../../../../proxy/exchange/refusal.ts';
import { BufferedBody } from '../../../../proxy/exchange/body.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { RpcRequest } from '../../../../proxy/mcp/message/message.ts';
import type { CallSink, TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { ManualBody } from '../../exchange/build.ts';
import { harness, INITIALIZE, post, POST_HEADERS, reply, type Harness } from './harness.ts';

const MODERN = '2026-07-28';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo', arguments: {} } };
const meta = { 'io.modelcontextprotocol/protocolVersion': MODERN };
const modernCall = (params: object = {}): object => ({ ...CALL, params: { ...CALL.params, _meta: meta, ...params } });
const modernHeaders = { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

const result = ({ id }: RpcRequest, sink: CallSink, value = {}): void => {
  sink.onMessage({ kind: 'result', id, result: value });
  sink.onEnd(null);
};

/** A client with a session that answers everything. */
async function begun(): Promise<Harness> {
  const made = await harness();
  made.session.id = 's1';
  made.session.onRequest = (message, sink) => result(message, sink, { of: message.method });
  return made;
}

const inSession = { 'mcp-session-id': 's1' };

describe('a POST over streamable HTTP', () => {
  test('is answered by a stream with one event', async () => {
    await using gw = await begun();
    const answer = await post(gw.url, PING, inSession);
    expect(answer.status).toBe(200);
    expect(answer.text).toBe('event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"of":"ping"}}\n\n');
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    expect(answer.headers.has('mcp-session-id')).toBe(false);
    expect(gw.sessions.asked).toEqual(['find s1']);
    expect(gw.session.calls).toMatchObject([{ era: 'legacy', version: null }]);
  });

  test('begins a session, whose id is known with the answer', async () => {
    await using gw = await harness();
    gw.session.onRequest = (message, sink) => {
      sink.onMessage({ kind: 'notification', method: 'notifications/message', params: { data: 'hello' } });
      setImmediate(() => {
        gw.session.id = 'made';
        result(message, sink);
      });
    };
    const answer = await post(gw.url, INITIALIZE);
    expect(answer.headers.get('mcp-session-id')).toBe('made');
    expect(answer.events).toMatchObject([{ method: 'notifications/message' }, { id: 0, result: {} }]);
    expect(gw.sessions.asked).toEqual(['begin']);
    expect(gw.session.calls).toMatchObject([{ era: 'legacy', version: '2025-11-25' }]);
  });

  test('tells no session id where the handshake failed', async () => {
    await using gw = await harness();
    gw.session.id = 'x';
    gw.session.onRequest = ({ id }, sink) =>
      sink.onMessage({ kind: 'error', id, error: { code: -32_603, message: 'no' } });
    const answer = await post(gw.url, INITIALIZE);
    expect(answer).toMatchObject({ status: 200, events: [{ id: 0, error: { code: -32_603, message: 'no' } }] });
    expect(answer.headers.has('mcp-session-id')).toBe(false);
  });

  test('lets messages through as they come', async () => {
    await using gw = await begun();
    gw.session.onRequest = (message, sink) => {
      sink.onMessage({ kind: 'notification', method: 'notifications/progress', params: { progress: 1 } });
      sink.onMessage({ kind: 'request', id: 'gw_0_n_1', method: 'sampling/createMessage', params: {} });
      setImmediate(() => result(message, sink));
    };
    const answer = await post(gw.url, CALL, inSession);
    expect(answer.events).toMatchObject([{ params: { progress: 1 } }, { id: 'gw_0_n_1' }, { id: 7, result: {} }]);
  });

  test.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an answer', { jsonrpc: '2.0', id: 'gw_0_n_1', result: { content: [] } }],
    ['an error', { jsonrpc: '2.0', id: 3, error: { code: -1, message: 'no' } }],
  ])('takes %s', async (_what, message) => {
    await using gw = await begun();
    const answer = await post(gw.url, message, inSession);
    expect(answer).toMatchObject({ status: 202, text: '' });
    expect(gw.session.posted).toHaveLength(1);
  });

  test('stands alone without sessions', async () => {
    await using gw = await begun();
    gw.sessions.stateful = false;
    expect((await post(gw.url, PING)).status).toBe(200);
    expect((await post(gw.url, PING, { 'mcp-session-id': 'whatever' })).status).toBe(200);
    expect((await post(gw.url, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202);
    expect(gw.sessions.asked).toEqual(['alone', 'alone', 'alone']);
    expect((await fetch(gw.url, { headers: { accept: 'text/event-stream', ...inSession } })).status).toBe(405);
    const end = await fetch(gw.url, { method: 'DELETE', headers: inSession });
    expect([end.status, end.headers.get('allow'), end.headers.get('x-gw-reason')]).toEqual([405, 'POST', 'MCP']);
  });

  test('may be compressed', async () => {
    await using gw = await begun();
    const zipped = gzipSync(JSON.stringify(PING));
    expect((await post(gw.url, zipped, { ...inSession, 'content-encoding': 'gzip' })).status).toBe(200);
    expect((await post(gw.url, zipped.subarray(0, 12), { ...inSession, 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await post(gw.url, 'x', { ...inSession, 'content-encoding': 'lzma' })).status).toBe(415);
    const bomb = gzipSync(Buffer.alloc(1_000_000, ' '));
    expect((await post(gw.url, bomb, { ...inSession, 'content-encoding': 'gzip' })).status).toBe(413);
  });
});

describe('what is refused', () => {
  const both = 'application/json, text/event-stream';
  test.each<[string, unknown, Record<string, string | null>, number, RegExp]>([
    ['no Accept', PING, { accept: '*/*' }, 406, /must accept both/],
    ['one type in Accept', PING, { accept: 'application/json' }, 406, /must accept both/],
    ['the other type in Accept', PING, { accept: 'text/event-stream' }, 406, /must accept both/],
    ['no Content-Type', PING, { 'content-type': '' }, 415, /content type/],
    ['text', PING, { 'content-type': 'text/plain' }, 415, /content type/],
    ['a type that begins like JSON', PING, { 'content-type': 'application/jsonl' }, 415, /content type/],
    ['nothing', '', {}, 400, /not valid JSON/],
    ['no JSON', 'hello', {}, 400, /not valid JSON/],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 400, /not UTF-8/],
    ['half a message', '{"jsonrpc":"2.0","id":1,"meth', {}, 400, /not valid JSON/],
    ['a batch', [PING, PING], {}, 400, /batches are not supported/],
    ['an id that is none', { ...PING, id: null }, {}, 400, /id is neither/],
    ['an id that is an object', { ...PING, id: {} }, {}, 400, /id is neither/],
    ['a message that is too big', { ...CALL, params: { x: 'y'.repeat(300_000) } }, {}, 413, /buffer limit/],
    [
      'a deep message',
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_001)}`,
      {},
      413,
      /./,
    ],
    [
      'a deep message within the limit',
      `{"jsonrpc":"2.0","id":1,"method":"a","params":${'{"a":'.repeat(5000)}1${'}'.repeat(5001)}`,
      {},
      400,
      /nested too deeply/,
    ],
    ['a version that is no text', PING, { 'mcp-protocol-version': 'vé' }, 400, /invalid MCP protocol version header/],
    ['an empty session', PING, { 'mcp-session-id': '' }, 400, /invalid session ID header/],
    ['a session that cannot be read', PING, { 'mcp-session-id': '!x' }, 400, /invalid session ID header/],
    ['a session that is not there', PING, { 'mcp-session-id': 'forged' }, 404, /session not found/],
    ['no session', PING, { 'mcp-session-id': null }, 400, /session header is required/],
    [
      'a notification without session',
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { 'mcp-session-id': null },
      400,
      /session header is required/,
    ],
    [
      'an answer without session',
      { jsonrpc: '2.0', id: 1, result: {} },
      { 'mcp-session-id': null },
      400,
      /session header is required/,
    ],
  ])('%s', async (_what, body, headers, status, text) => {
    await using gw = await begun();
    const answer = await post(gw.url, body, { accept: both, ...inSession, ...headers });
    expect(answer.status).toBe(status);
    expect(answer.text).toMatch(text);
    expect(answer.headers.get('x-gw-reason')).toBe('MCP');
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect(gw.session.calls).toHaveLength(0);
    expect((await post(gw.url, PING, inSession)).status).toBe(200);
  });

  test.each<[string, unknown, Record<string, string>, number, object]>([
    [
      'an unknown version',
      PING,
      { 'mcp-protocol-version': '2099-01-01' },
      400,
      {
        code: -32_022,
        data: { requested: '2099-01-01', supported: ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', MODERN] },
      },
    ],
    [
      'an unknown version of a handshake',
      INITIALIZE,
      { 'mcp-protocol-version': '2099-01-01' },
      400,
      { code: -32_022, message: 'Unsupported protocol version' },
    ],
    ['two versions', modernCall(), { 'mcp-protocol-version': '2025-11-25' }, 400, { code: -32_020 }],
    ['a handshake of another version', INITIALIZE, { 'mcp-protocol-version': '2025-06-18' }, 400, { code: -32_020 }],
    ['a lie about the name', CALL, { 'mcp-name': 'other' }, 400, { code: -32_020 }],
    ['params that are none', { ...CALL, params: [1] }, {}, 400, { code: -32_602 }],
    [
      'a handshake in the modern version',
      INITIALIZE,
      { ...modernHeaders, 'mcp-method': 'initialize' },
      404,
      { code: -32_601 },
    ],
    ['ping in the modern version', PING, modernHeaders, 404, { code: -32_601 }],
    [
      'an unknown method with params that are none',
      { ...CALL, method: 'x/y', params: 7 },
      modernHeaders,
      404,
      { code: -32_601 },
    ],
    ['params that are none in the modern version', { ...CALL, params: 7 }, modernHeaders, 400, { code: -32_602 }],
    ['a modern request without version', CALL, modernHeaders, 400, { code: -32_602 }],
    [
      'a modern request without method header',
      modernCall(),
      { 'mcp-protocol-version': MODERN, 'mcp-name': 'echo' },
      400,
      { code: -32_020 },
    ],
    [
      'a modern request without name header',
      modernCall(),
      { 'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call' },
      400,
      { code: -32_020 },
    ],
    ['a modern request with another name', modernCall({ name: 'rm' }), modernHeaders, 400, { code: -32_020 }],
  ])('%s, in the words of JSON-RPC', async (_what, body, headers, status, error) => {
    await using gw = await begun();
    const answer = await post(gw.url, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('x-gw-reason')).toBe('MCP');
    expect(JSON.parse(answer.text)).toMatchObject({ jsonrpc: '2.0', id: (body as RpcRequest).id, error });
    expect(gw.sessions.asked).toEqual([]);
  });

  test('a modern message without its header, an unknown version of a notification, and a session of a modern client', async () => {
    await using gw = await begun();
    const cases: [unknown, Record<string, string>, string][] = [
      [modernCall(), {}, 'invalid MCP protocol version header'],
      [{ jsonrpc: '2.0', method: 'x' }, { 'mcp-protocol-version': '2099-01-01' }, 'unsupported MCP protocol version'],
      [modernCall(), { ...modernHeaders, ...inSession }, 'invalid session ID header'],
    ];
    for (const [body, headers, text] of cases)
      expect(await post(gw.url, body, headers)).toMatchObject({ status: 400, text });
  });

  test('other methods', async () => {
    await using gw = await begun();
    for (const method of ['PUT', 'PATCH', 'OPTIONS']) {
      const answer = await fetch(gw.url, { method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, POST, DELETE']);
    }
  });

  test('what stands twice', async () => {
    await using gw = await begun();
    const twice = async (name: string, ...values: string[]): Promise<number> => {
      const sent = httpRequest(gw.url, { method: 'POST' });
      for (const [key, value] of POST_HEADERS) sent.setHeader(key, value);
      sent.setHeader('mcp-session-id', 's1');
      sent.setHeader(name, values);
      sent.end(JSON.stringify(PING));
      const [response] = (await once(sent, 'response')) as [{ statusCode: number; resume(): void }];
      response.resume();
      return response.statusCode;
    };
    expect(await twice('mcp-session-id', 's1', 's2')).toBe(400);
    expect(await twice('mcp-protocol-version', '2025-11-25', '2025-06-18')).toBe(400);
    expect(await twice('mcp-method', 'ping', 'tools/call')).toBe(400);
    expect(await twice('accept', 'application/json', 'text/event-stream')).toBe(200);
  });

  test('a backend that cannot begin', async () => {
    await using gw = await harness();
    gw.sessions.refusal = refuse(503, 'NoHealthyBackend', 'no backends configured');
    expect(await post(gw.url, INITIALIZE)).toMatchObject({ status: 503, text: 'no backends configured' });
  });

  test('a body that is cut off or slow holds nothing open', async () => {
    await using gw = await begun();
    const sent = httpRequest(gw.url, {
      method: 'POST',
      headers: { ...Object.fromEntries(POST_HEADERS), 'content-length': 100 },
    });
    sent.on('error', () => {});
    sent.write('{"jsonrpc":');
    await new Promise((resolve) => setImmediate(resolve));
    sent.destroy();
    expect((await post(gw.url, PING, inSession)).status).toBe(200);
    await gw.idle();
    expect(gw.open()).toBe(0);
  });
});

describe('a client of the modern version', () => {
  test('needs no session', async () => {
    await using gw = await begun();
    const answer = await post(gw.url, modernCall(), { ...modernHeaders, 'mcp-name': '=?base64?ZWNobw==?=' });
    expect(answer.events).toEqual([{ jsonrpc: '2.0', id: 7, result: { of: 'tools/call' } }]);
    expect(gw.sessions.asked).toEqual(['alone']);
    expect(gw.session.calls).toMatchObject([{ era: 'modern', version: MODERN }]);
  });

  test('may send notifications without a version of their own', async () => {
    await using gw = await begun();
    const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    expect((await post(gw.url, cancelled, { 'mcp-protocol-version': MODERN })).status).toBe(202);
  });

  test.each([
    [-32_601, 404],
    [-32_021, 400],
    [-32_022, 400],
    [-32_602, 200],
    [-32_603, 200],
  ])('gets an error %i with the status %i', async (code, status) => {
    await using gw = await begun();
    gw.session.onRequest = ({ id }, sink) => sink.onMessage({ kind: 'error', id, error: { code, message: 'no' } });
    const answer = await post(gw.url, modernCall(), modernHeaders);
    expect(answer.status).toBe(status);
    const said = status === 200 ? answer.events[0] : JSON.parse(answer.text);
    expect(said).toEqual({ jsonrpc: '2.0', id: 7, error: { code, message: 'no' } });
    expect((await post(gw.url, CALL, inSession)).status).toBe(200);
  });

  test('that proposes it in a handshake is a legacy client', async () => {
    await using gw = await begun();
    const proposing = { ...INITIALIZE, params: { ...INITIALIZE.params, protocolVersion: MODERN } };
    expect((await post(gw.url, proposing)).status).toBe(200);
    expect(gw.session.calls).toMatchObject([{ era: 'legacy', version: MODERN }]);
  });
});

describe('a target that fails', () => {
  const broken: TargetFailure = { kind: 'broken', message: 'connection reset' };
  test.each<[string, TargetFailure | null, number, string, string]>([
    [
      'broken',
      broken,
      502,
      'UpstreamFailure',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"connection reset"}}',
    ],
    [
      'without an answer',
      null,
      502,
      'UpstreamFailure',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"the target gave no answer"}}',
    ],
    ['forgotten', { kind: 'forgotten', message: 'gone' }, 404, 'MCP', 'session not found'],
    [
      'unsupported',
      { kind: 'unsupported', message: 'no such thing' },
      500,
      'MCP',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no such thing"}}',
    ],
    [
      'refused',
      { kind: 'refused', status: 503, reason: 'Internal', message: 'no credentials' },
      503,
      'Internal',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"no credentials"}}',
    ],
    [
      'with a status',
      { kind: 'http', status: 500, response: null, message: 'status 500' },
      500,
      'UpstreamFailure',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"status 500"}}',
    ],
    [
      'with an error',
      { kind: 'rpc', error: { code: -32_602, message: 'Unknown tool: x' } },
      200,
      'MCP',
      '{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Unknown tool: x"}}',
    ],
  ])('before it said anything (%s)', async (_how, failure, status, reason, text) => {
    await using gw = await begun();
    gw.session.onRequest = (_message, sink) => sink.onEnd(failure);
    const answer = await post(gw.url, CALL, inSession);
    expect(answer).toMatchObject({ status, text });
    expect(answer.headers.get('x-gw-reason')).toBe(reason);
  });

  test('before it said anything to a modern client', async () => {
    await using gw = await begun();
    for (const failure of [broken, { kind: 'forgotten', message: 'gone' } as const]) {
      gw.session.onRequest = (_message, sink) => sink.onEnd(failure);
      const answer = await post(gw.url, modernCall(), modernHeaders);
      expect(answer.status).toBe(503);
      expect(JSON.parse(answer.text)).toMatchObject({ id: 7, error: { code: -32_603, message: failure.message } });
    }
  });

  test('with an HTTP answer that the client gets as it is, but for its session', async () => {
    await using gw = await begun();
    const headers = Headers.from([
      ['content-type', 'text/html'],
      ['mcp-session-id', 'secret'],
      ['retry-after', '7'],
    ]);
    const response = { status: 429, headers, body: new BufferedBody(Buffer.from('<p>slow down</p>')) };
    gw.session.onRequest = (_message, sink) => sink.onEnd({ kind: 'http', status: 429, response, message: '429' });
    const answer = await post(gw.url, CALL, inSession);
    expect(answer).toMatchObject({ status: 429, text: '<p>slow down</p>' });
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.has('mcp-session-id')).toBe(false);
    expect(answer.headers.has('x-gw-reason')).toBe(false);
  });

  test('after it said something', async () => {
    await using gw = await begun();
    const body = new ManualBody();
    const failures: [TargetFailure | null, object][] = [
      [broken, { code: -32_603, message: 'connection reset' }],
      [null, { code: -32_603, message: 'the target gave no answer' }],
      [
        { kind: 'rpc', error: { code: -5, message: 'x', data: 1 } },
        { code: -5, message: 'x', data: 1 },
      ],
      [
        { kind: 'http', status: 500, response: { status: 500, headers: new Headers(), body }, message: 'late' },
        { code: -32_603, message: 'late' },
      ],
    ];
    for (const [failure, error] of failures) {
      gw.session.onRequest = (_message, sink) => {
        sink.onMessage({ kind: 'notification', method: 'notifications/progress', params: {} });
        setImmediate(() => sink.onEnd(failure));
      };
      const answer = await post(gw.url, CALL, inSession);
      expect(answer).toMatchObject({ status: 200, events: [{ method: 'notifications/progress' }, { id: 7, error }] });
    }
    expect(body.calls).toEqual(['cancel']);
  });

  test('to take a message', async () => {
    await using gw = await begun();
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    gw.session.onPost = () => broken;
    expect((await post(gw.url, note, inSession)).status).toBe(502);
    gw.session.onPost = () => ({ kind: 'forgotten', message: '' });
    expect((await post(gw.url, note, inSession)).status).toBe(404);
  });
});

test('a request that takes too long is told so', async () => {
  const timers: (() => void)[] = [];
  const clock = { now: () => 0, schedule: (callback: () => void) => (timers.push(callback), () => {}) };
  await using gw = await harness({ clock, deadlineAt: 5 });
  gw.session.id = 's1';
  gw.session.onRequest = () => setImmediate(() => timers.at(-1)?.());
  const answer = await post(gw.url, CALL, inSession);
  expect(answer.status).toBe(504);
  expect(answer.headers.get('x-gw-reason')).toBe('Timeout');
  expect(JSON.parse(answer.text)).toEqual({
    jsonrpc: '2.0',
    id: 7,
    error: { code: -32_603, message: 'request timeout' },
  });
  expect(gw.session.notes).toEqual(['cancelled tools/call']);
});

describe('a client that leaves', () => {
  test('before the answer has its call cancelled', async () => {
    await using gw = await begun();
    const left = new AbortController();
    gw.session.onRequest = () => setImmediate(() => left.abort());
    const headers = { ...Object.fromEntries(POST_HEADERS), ...inSession };
    await expect(
      fetch(gw.url, { method: 'POST', headers, body: JSON.stringify(CALL), signal: left.signal }),
    ).rejects.toThrow();
    await gw.idle();
    expect(gw.session.notes).toEqual(['cancelled tools/call']);
  });

  test('in the middle of a stream has its call cancelled', async () => {
    await using gw = await begun();
    gw.session.onRequest = (_message, sink) =>
      sink.onMessage({ kind: 'notification', method: 'notifications/progress', params: {} });
    const left = new AbortController();
    const headers = { ...Object.fromEntries(POST_HEADERS), ...inSession };
    await fetch(gw.url, { method: 'POST', headers, body: JSON.stringify(CALL), signal: left.signal });
    left.abort();
    await gw.idle();
    expect(gw.session.notes).toEqual(['cancelled tools/call']);
  });
});

describe('the stream of what is said without being asked', () => {
  const open = (
    gw: Harness,
    headers: Record<string, string> = {},
    signal: AbortSignal | null = null,
  ): Promise<Response> => fetch(gw.url, { headers: { accept: 'text/event-stream', ...inSession, ...headers }, signal });

  test('is there at once, and carries what comes until the client leaves', async () => {
    await using gw = await begun();
    const left = new AbortController();
    const stream = await open(gw, {}, left.signal);
    expect([stream.status, stream.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    gw.session.listener?.onMessage({
      kind: 'notification',
      method: 'notifications/tools/list_changed',
      params: undefined,
    });
    const chunk = await stream.body?.getReader().read();
    expect(Buffer.from(chunk?.value ?? '').toString()).toContain('"method":"notifications/tools/list_changed"');
    left.abort();
    await gw.idle();
    expect(gw.session.notes).toEqual(['cancelled listen']);
  });

  test('is there although targets say nothing about it', async () => {
    const timers: (() => void)[] = [];
    const clock = { now: () => 0, schedule: (callback: () => void) => (timers.push(callback), () => {}) };
    await using gw = await harness({ clock });
    gw.session.id = 's1';
    gw.session.onListen = () => setImmediate(() => timers.at(-1)?.());
    const stream = await open(gw);
    expect(stream.status).toBe(200);
    // Closing it now would make the client open it again, and again.
    gw.session.listener?.onEnd({ kind: 'unsupported', message: '' });
    gw.session.listener?.onMessage({ kind: 'notification', method: 'x', params: undefined });
    const chunk = await stream.body?.getReader().read();
    expect(Buffer.from(chunk?.value ?? '').toString()).toContain('"method":"x"');
  });

  test('ends when targets end it', async () => {
    await using gw = await begun();
    gw.session.onListen = (sink) => {
      sink.onOpen?.();
      setImmediate(() => sink.onEnd(null));
    };
    expect(await reply(await open(gw))).toMatchObject({ status: 200, text: '' });
  });

  test.each<[string, TargetFailure, number]>([
    ['no target has one', { kind: 'unsupported', message: '' }, 405],
    ['targets cannot be reached', { kind: 'broken', message: 'refused' }, 502],
    ['targets know the session no more', { kind: 'forgotten', message: '' }, 404],
  ])('is refused where %s', async (_why, failure, status) => {
    await using gw = await begun();
    gw.session.onListen = (sink) => setImmediate(() => sink.onEnd(failure));
    expect((await open(gw)).status).toBe(status);
  });

  test.each<[string, Record<string, string>, number]>([
    ['another Accept', { accept: 'application/json' }, 406],
    ['a modern version', { 'mcp-protocol-version': MODERN }, 400],
    ['an unknown version', { 'mcp-protocol-version': '1' }, 400],
    ['an unknown session', { 'mcp-session-id': 'other' }, 404],
    ['an unreadable session', { 'mcp-session-id': '!' }, 400],
    ['an empty session', { 'mcp-session-id': '' }, 400],
  ])('is refused with %s', async (_what, headers, status) => {
    await using gw = await begun();
    expect((await open(gw, headers)).status).toBe(status);
  });
});

describe('DELETE', () => {
  test('ends a session, and is content with one that has ended', async () => {
    await using gw = await begun();
    const end = async (headers: Record<string, string>): Promise<number> =>
      (await fetch(gw.url, { method: 'DELETE', headers })).status;
    expect(await end(inSession)).toBe(202);
    expect(gw.session.notes).toEqual(['closed']);
    expect(await end({ 'mcp-session-id': 'other' })).toBe(202);
    expect(await end({ 'mcp-session-id': '!' })).toBe(400);
    expect(await end({})).toBe(400);
    expect(await end({ ...inSession, 'mcp-protocol-version': MODERN })).toBe(400);
    expect(gw.session.notes).toEqual(['closed']);
  });
});
