import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { Headers } from '../../../../../proxy/exchange/headers.ts';
import type { TargetConnection } from '../../../../../proxy/mcp/targets/contract.ts';
import { streamableTarget } from '../../../../../proxy/mcp/targets/streamable/target.ts';
import { eventually } from '../../../../e2e/clients.ts';
import { Rig } from '../../../backends/rig.ts';
import { ManualBody, ManualClock } from '../../../exchange/build.ts';
import { asked, begun, callOf, initializeParams, poolsCaller, requestOf, Waiting } from '../caller.ts';

const LEGACY = '2025-11-25';
const LIMIT = 2_000_000;

let rig: Rig;
let clock: ManualClock;

beforeEach(() => {
  rig = new Rig();
  clock = new ManualClock();
});
afterEach(() => rig.end());

type Serve = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function servedBy(serve: Serve): Promise<TargetConnection> {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => serve(request, response, body));
  });
  return connectionTo(await rig.listen(server));
}

function connectionTo(port: number): TargetConnection {
  const caller = poolsCaller(rig.pools(), () => port);
  return streamableTarget({ name: 'one', path: '/mcp?key=1', caller, limitBytes: LIMIT, clock }).connect(null);
}

const json = { 'content-type': 'application/json' };
const events = { 'content-type': 'text/event-stream; charset=utf-8' };
const list = requestOf(1, 'tools/list');

function answerTo(id: unknown, result: object = { ok: true }): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

function eventOf(data: string, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${data}\n\n`;
}

describe('an answer', () => {
  test.each([
    ['JSON', json, answerTo(1)],
    ['JSON with a parameter', { 'content-type': 'Application/JSON; charset=utf-8' }, answerTo(1)],
    ['an event', events, eventOf(answerTo(1))],
    ['an event behind empty data and comments', events, `: hi\n\ndata:\n\nid: 1\ndata: \n\n${eventOf(answerTo(1))}`],
    ['one of several in an array', json, `[${answerTo(7)},${answerTo(1)}]`],
    [
      'an event behind answers to something else',
      events,
      eventOf(answerTo(2)) + eventOf(answerTo('1')) + eventOf(answerTo(1)),
    ],
    ['an event that comes twice', events, eventOf(answerTo(1)) + eventOf(answerTo(1, { late: true }))],
    ['an event without its blank line', events, `data: ${answerTo(1)}`],
  ])('that is %s arrives once', async (_what, headers, body) => {
    const connection = await servedBy((_request, response) => void response.writeHead(200, headers).end(body));
    const { waiting } = begun(connection, list, callOf(LEGACY));
    expect(await waiting.ended).toBeNull();
    expect(waiting.messages).toEqual([{ kind: 'result', id: 1, result: { ok: true } }]);
    expect(waiting.ends).toBe(1);
  });

  test.each([
    ['JSON', json, answerTo(1)],
    ['events', events, eventOf(answerTo(1))],
  ])('that is compressed %s is unpacked', async (_what, headers, body) => {
    const packed = { ...headers, 'content-encoding': 'gzip' };
    const connection = await servedBy((_request, response) => void response.writeHead(200, packed).end(gzipSync(body)));
    expect((await asked(connection, list, callOf(LEGACY))).result).toEqual({ ok: true });
  });

  test('of a mebibyte arrives whole', async () => {
    const text = 'ä'.repeat(512 * 1024);
    const connection = await servedBy((_request, response) => {
      response.writeHead(200, events).end(eventOf(answerTo(1, { text })));
    });
    expect((await asked(connection, list, callOf(LEGACY))).result).toEqual({ text });
  });

  test('keeps numbers that a double does not hold', async () => {
    const connection = await servedBy((_request, response) => {
      response.writeHead(200, json).end('{"jsonrpc":"2.0","id":1,"result":{"n":9007199254740993}}');
    });
    expect(JSON.stringify((await asked(connection, list, callOf(LEGACY))).result)).toBe('{"n":9007199254740993}');
  });

  test('that is an error about nobody is about the request', async () => {
    const error = { code: -32700, message: 'what?' };
    const connection = await servedBy((_request, response) => {
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
    });
    const { waiting } = begun(connection, list, callOf(LEGACY));
    expect(await waiting.ended).toBeNull();
    expect(waiting.messages).toEqual([{ kind: 'error', id: 1, error }]);
  });
});

describe('a target that', () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
  test.each([
    ['answers with a page', { 'content-type': 'text/html' }, '<h1>hello</h1>', /type text\/html/],
    ['answers without a type', {}, answerTo(1), /type none/],
    ['answers with half a JSON', json, '{"jsonrpc":"2.0","id":1,"res', /no message/],
    ['answers with JSON that is no JSON-RPC', json, '{"ok":true}', /no message/],
    ['answers with a result that is no object', json, '{"jsonrpc":"2.0","id":1,"result":3}', /no message/],
    ['answers something else', json, answerTo(2), /answers nothing/],
    ['answers null', json, 'null', /answers nothing/],
    ['answers an empty array', json, '[]', /answers nothing/],
    ['sends an event that is no JSON', events, 'data: hello\n\n', /no message/],
    ['ends its stream early', events, eventOf(answerTo(2)), /ended before its answer/],
    ['sends too large an answer', json, answerTo(1, { text: 'x'.repeat(LIMIT) }), /too large/],
    ['sends too large an event', events, `data: ${'x'.repeat(LIMIT + 10)}`, /too large/],
    ['compresses in its own way', { ...json, 'content-encoding': 'rot13' }, answerTo(1), /compressed/],
    ['says that it has compressed and has not', { ...json, 'content-encoding': 'gzip' }, answerTo(1), /broke off/],
    ['packs a lot into little', { ...json, 'content-encoding': 'gzip' }, bomb, /too large|broke off/],
    ['packs a lot into a stream', { ...events, 'content-encoding': 'gzip' }, bomb, /too large/],
  ])('%s has broken its protocol', async (_what, headers, body, why) => {
    const connection = await servedBy((_request, response) => void response.writeHead(200, headers).end(body));
    const { failure, result } = await asked(connection, list, callOf(LEGACY));
    expect(result).toBeNull();
    expect(failure).toMatchObject({ kind: 'broken', message: expect.stringMatching(why) });
  });

  test.each([202, 204])('only says %d answers nothing', async (status) => {
    const connection = await servedBy((_request, response) => void response.writeHead(status).end());
    expect((await asked(connection, list, callOf(LEGACY))).failure).toMatchObject({ kind: 'broken' });
    const notice = { kind: 'notification', method: 'notifications/initialized', params: undefined } as const;
    expect(await connection.post(notice, callOf(LEGACY))).toBeNull();
  });

  test('is down is broken', async () => {
    const port = await rig.raw(() => {});
    rig.end();
    const connection = connectionTo(port);
    expect((await asked(connection, list, callOf(LEGACY))).failure).toMatchObject({ kind: 'broken' });
    const stream = new Waiting();
    connection.listen(callOf(LEGACY), stream);
    expect(await stream.ended).toMatchObject({ kind: 'broken' });
  });

  test('hangs up instead of an answer is broken', async () => {
    const port = await rig.raw((socket) => socket.on('data', () => socket.destroy()));
    expect((await asked(connectionTo(port), list, callOf(LEGACY))).failure).toMatchObject({ kind: 'broken' });
  });

  test('hangs up in the middle of its stream is broken', async () => {
    const connection = await servedBy((_request, response) => {
      response.writeHead(200, events).write('data: {"jsonrpc"');
      setImmediate(() => response.destroy());
    });
    const { failure } = await asked(connection, list, callOf(LEGACY));
    expect(failure).toMatchObject({ kind: 'broken', message: expect.stringContaining('broke off') });
  });

  test('answers late is waited for, until nobody does', async () => {
    const came = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const connection = await servedBy((_request, response) => {
      response.on('close', () => left.resolve());
      came.resolve();
    });
    const { calling, waiting } = begun(connection, list, callOf('2026-07-28'));
    await came.promise;
    expect(waiting.ends).toBe(0);
    calling.cancel();
    calling.cancel();
    await left.promise;
    expect(waiting.ends).toBe(0);
  });

  test.each([401, 403, 404, 429, 500, 503])('answers with %d is quoted', async (status) => {
    const connection = await servedBy((_request, response) => {
      response.writeHead(status, { 'content-type': 'text/plain', 'x-own': 'yes' }).end('no');
    });
    const { failure } = await asked(connection, list, callOf(LEGACY));
    expect(failure).toMatchObject({ kind: 'http', status });
    const response = failure?.kind === 'http' ? failure.response : null;
    expect(response?.headers.get('x-own')).toBe('yes');
    response?.body.cancel();
  });

  test('gives a session id that no header can carry is broken', async () => {
    const port = await rig.raw((socket) =>
      socket.on('data', () => {
        const body = answerTo(1);
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nmcp-session-id: a b\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      }),
    );
    const { failure } = await asked(connectionTo(port), requestOf(1, 'initialize', initializeParams), callOf(null));
    expect(failure).toMatchObject({ kind: 'broken', message: expect.stringContaining('session id') });
  });
});

describe('a stream', () => {
  test('that breaks goes on behind its last event', async () => {
    const asks: string[] = [];
    const connection = await servedBy((request, response) => {
      asks.push(`${request.method} ${request.headers['last-event-id'] ?? ''}`.trim());
      response.writeHead(200, events);
      if (request.method === 'POST') {
        response.write(`retry: 7000\n${eventOf('{"jsonrpc":"2.0","method":"notifications/message"}', 'e1')}`);
        setImmediate(() => response.destroy());
      } else response.end(eventOf(answerTo(1), 'e2'));
    });
    const { waiting } = begun(connection, list, callOf(LEGACY));
    await eventually('the stream has broken', () => clock.pending === 1);
    clock.advance(6999);
    expect(asks).toEqual(['POST']);
    clock.advance(1);
    expect(await waiting.ended).toBeNull();
    expect(asks).toEqual(['POST', 'GET e1']);
    expect(waiting.messages.map(({ kind }) => kind)).toEqual(['notification', 'result']);
  });

  test('that cannot go on has broken', async () => {
    const connection = await servedBy((request, response) => {
      if (request.method === 'GET') response.writeHead(405).end();
      else response.writeHead(200, events).end('id: e1\ndata:\n\n');
    });
    const { waiting } = begun(connection, list, callOf(LEGACY));
    await eventually('the stream has ended', () => clock.pending === 1);
    clock.advance(1000);
    expect(await waiting.ended).toMatchObject({ kind: 'broken' });
  });

  test('is held back while the client takes no more, also one that comes later', async () => {
    const body = new ManualBody();
    const response = { status: 200, headers: Headers.from(Object.entries(events)), body };
    const outcome = Promise.resolve({
      kind: 'answer',
      response,
      pinned: undefined,
      origin: 'http://one.test',
    } as const);
    const caller = { send: () => ({ outcome, cancel() {} }) };
    const target = streamableTarget({ name: 'one', path: '/mcp', caller, limitBytes: LIMIT, clock });
    const { calling, waiting } = begun(target.connect(null), list, callOf(LEGACY));
    calling.pause();
    await outcome;
    expect(body.calls).toEqual(['pause', 'pipe']);
    calling.resume();
    expect(body.paused).toBe(false);
    body.send(eventOf(answerTo(1)));
    expect(await waiting.ended).toBeNull();
    // The stream is left to end by itself, so that its connection can be used again; not for ever.
    expect(body.calls).not.toContain('cancel');
    clock.advance(1000);
    expect(body.calls).toContain('cancel');
  });

  test('of a flood of notifications takes no memory', async () => {
    const total = 200_000;
    const note = eventOf(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'x'.repeat(200) } }),
    );
    const connection = await servedBy((_request, response) => {
      response.writeHead(200, events);
      let left = total;
      const more = (): void => {
        while (left > 0) {
          left -= 100;
          if (!response.write(note.repeat(100))) {
            response.once('drain', more);
            return;
          }
        }
        response.end(eventOf(answerTo(1)));
      };
      more();
    });
    let count = 0;
    const before = process.memoryUsage().rss;
    const failure = await new Promise((resolve) => {
      connection.request(list, callOf(LEGACY), { onMessage: () => (count += 1), onEnd: resolve });
    });
    expect(failure).toBeNull();
    expect(count).toBe(total + 1);
    expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
  });
});

describe('what the target says unasked', () => {
  test('is unsupported where it has no such stream', async () => {
    const connection = await servedBy((_request, response) => void response.writeHead(405).end());
    const stream = new Waiting();
    connection.listen(callOf(LEGACY), stream);
    expect(await stream.ended).toMatchObject({ kind: 'unsupported' });
    const modern = new Waiting();
    connection.listen(callOf('2026-07-28'), modern);
    expect(await modern.ended).toMatchObject({ kind: 'unsupported' });
  });

  test('goes on when the stream ends, until the target is gone for good', async () => {
    let opened = 0;
    let down = false;
    const connection = await servedBy((request, response) => {
      opened += 1;
      if (down) {
        response.destroy();
        return;
      }
      expect(request.headers['last-event-id']).toBe(opened === 1 ? undefined : 'n1');
      const bad = 'data: nonsense\n\n';
      response.writeHead(200, events).end(bad + eventOf('{"jsonrpc":"2.0","method":"notifications/message"}', 'n1'));
    });
    const stream = new Waiting();
    connection.listen(callOf(LEGACY), stream);
    await eventually('the stream has ended', () => clock.pending === 1);
    clock.advance(1000);
    await eventually('there is the second notification', () => stream.messages.length === 2 && clock.pending === 1);
    down = true;
    for (let failures = 1; failures <= 5; failures++) {
      await eventually('it waits', () => clock.pending === 1);
      clock.advance(30_000);
    }
    expect(await stream.ended).toMatchObject({ kind: 'broken' });
  });
});

describe('the end', () => {
  test('is told to a target that gave a session, with its id', async () => {
    const seen: string[] = [];
    const connection = await servedBy((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers['mcp-session-id'] ?? ''}`.trim());
      if (request.method === 'DELETE') response.writeHead(405).end();
      else response.writeHead(200, { ...json, 'mcp-session-id': 's1' }).end(answerTo(1));
    });
    await asked(
      connection,
      requestOf(1, 'initialize', initializeParams),
      callOf(null, [['mcp-session-id', 'of the client']]),
    );
    expect(connection.state).toMatchObject({ session: 's1' });
    expect(await connection.close(null)).toBeNull();
    expect(seen).toEqual(['POST /mcp?key=1', 'DELETE /mcp?key=1 s1']);
    expect(await connection.close(null)).toBeNull();
    expect(seen).toHaveLength(2);
  });

  test('is no matter to a target that gave none', async () => {
    const connection = await servedBy((_request, response) => void response.writeHead(200, json).end(answerTo(1)));
    await asked(connection, requestOf(1, 'initialize', initializeParams), callOf(null));
    expect(await connection.close(null)).toBeNull();
  });

  test('ends the calls in flight', async () => {
    const connection = await servedBy(() => {});
    const { waiting } = begun(connection, list, callOf(LEGACY));
    await connection.close(null);
    expect(await waiting.ended).toMatchObject({ kind: 'broken' });
  });
});
