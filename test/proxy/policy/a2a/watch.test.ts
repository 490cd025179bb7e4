import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { A2aFacts } from '../../../../proxy/exchange/a2a-facts.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { PushBody } from '../../../../proxy/exchange/push-body.ts';
import { watchAnswer } from '../../../../proxy/policy/a2a/watch.ts';

/** What is told of an answer, and what came through. */
function watched(type: string, pieces: readonly (string | Error)[], { status = 200, bare = false, coding = '' } = {}) {
  const body = new PushBody();
  const headers = Headers.from([
    ['content-type', type],
    ...(coding === '' ? [] : [['content-encoding', coding] as const]),
  ]);
  const response = { status, headers, body };
  const facts = new A2aFacts('m', bare ? 'http' : 'jsonRpc');
  watchAnswer(response, facts, 1000);
  let through = '';
  response.body.pipe({
    onData: (chunk) => (through += Buffer.from(chunk).toString('latin1')),
    onEnd: () => (through += '|end'),
    onError: (error) => (through += `|${error.message}`),
  });
  for (const piece of pieces) {
    if (piece instanceof Error) body.fail(piece);
    else body.push(Buffer.from(piece, 'latin1'));
  }
  if (!pieces.some((piece) => piece instanceof Error)) body.end();
  const { outcome, errorCode, resultKind, taskState, contextId } = facts;
  return { through, told: [outcome, errorCode, resultKind, taskState, contextId] };
}

const JSON_TYPE = 'application/json; charset=utf-8';
const STREAM = 'text/event-stream';

describe('what is told of an answer that is compressed', () => {
  const result = '{"result":{"kind":"task","contextId":"c","status":{"state":"working"}}}';
  const stream = `data: ${result}\n\n`;

  test.each<[string, string, Buffer]>([
    ['gzip', JSON_TYPE, gzipSync(result)],
    ['deflate', JSON_TYPE, deflateSync(result)],
    ['br', JSON_TYPE, brotliCompressSync(result)],
    ['zstd', JSON_TYPE, zstdCompressSync(result)],
    ['gzip', STREAM, gzipSync(stream)],
  ])('with %s, %s', async (coding, type, bytes) => {
    const text = bytes.toString('latin1');
    const { all, facts } = passing(type, coding, text);
    expect(await all).toBe(`${text}|end`);
    expect([facts.outcome, facts.resultKind, facts.taskState]).toEqual(['success', 'task', 'working']);
  });

  test.each([
    ['not what it says', 'gzip', 'no gzip at all'],
    ['cut', 'gzip', gzipSync(result).toString('latin1').slice(0, 20)],
    ['far larger than what is held', 'gzip', gzipSync(Buffer.alloc(10_000_000, ' ')).toString('latin1')],
    ['compressed twice', 'gzip, br', brotliCompressSync(gzipSync(result)).toString('latin1')],
    ['compressed in an unknown way', 'x', result],
  ])('and %s: it passes all the same', async (_what, coding, text) => {
    const { all, facts } = passing(JSON_TYPE, coding, text);
    expect(await all).toBe(`${text}|end`);
    expect(facts.outcome).toBe('unknown');
  });
});

/** An answer on its way, whose end may take a moment. */
function passing(type: string, coding: string, text: string) {
  const body = new PushBody();
  const headers = Headers.from([
    ['content-type', type],
    ['content-encoding', coding],
  ]);
  const response = { status: 200, headers, body };
  const facts = new A2aFacts('m', 'jsonRpc');
  watchAnswer(response, facts, 1_000_000);
  const { promise: all, resolve } = Promise.withResolvers<string>();
  let through = '';
  response.body.pipe({
    onData: (chunk) => (through += Buffer.from(chunk).toString('latin1')),
    onEnd: () => resolve(`${through}|end`),
    onError: (error) => resolve(`${through}|${error.message}`),
  });
  for (const piece of text.match(/[^]{1,7}/g) ?? []) body.push(Buffer.from(piece, 'latin1'));
  body.end();
  return { all, facts };
}

describe('what is told of an answer', () => {
  const task = '{"id":"t","contextId":"c","status":{"state":"completed"}}';
  const cases: readonly (readonly [string, string, string, object, readonly unknown[]])[] = [
    [
      'a task of the newer version',
      JSON_TYPE,
      `{"result":{"task":${task}}}`,
      {},
      ['success', null, 'task', 'completed', 'c'],
    ],
    ['a task that was asked for', JSON_TYPE, `{"result":${task}}`, {}, ['success', null, 'task', 'completed', 'c']],
    [
      'a message of the older version',
      JSON_TYPE,
      '{"result":{"kind":"message","contextId":"c"}}',
      {},
      ['success', null, 'message', null, 'c'],
    ],
    ['a result that is none of those', JSON_TYPE, '{"result":null}', {}, ['success', null, null, null, null]],
    ['an error', JSON_TYPE, '{"error":{"code":-32001}}', {}, ['error', -32001, null, null, null]],
    ['an error with a name', JSON_TYPE, '{"error":{"code":"NOT_FOUND"}}', {}, ['error', 'NOT_FOUND', null, null, null]],
    ['neither', JSON_TYPE, '{"id":1}', {}, ['unknown', null, null, null, null]],
    ['a list', JSON_TYPE, '[1]', {}, ['unknown', null, null, null, null]],
    ['no JSON', JSON_TYPE, '{', {}, ['unknown', null, null, null, null]],
    ['a page of an error', 'text/html', '<html>', { status: 502 }, ['error', 502, null, null, null]],
    [
      'over the HTTP binding',
      JSON_TYPE,
      `{"task":${task}}`,
      { bare: true },
      ['success', null, 'task', 'completed', 'c'],
    ],
    [
      'a failure over it',
      JSON_TYPE,
      '{"code":-32001}',
      { bare: true, status: 404 },
      ['error', -32001, null, null, null],
    ],
    ['nothing over it', JSON_TYPE, '', { bare: true, status: 204 }, ['success', null, null, null, null]],
    [
      'words that are books',
      JSON_TYPE,
      `{"result":{"kind":"${'k'.repeat(500)}"}}`,
      {},
      ['success', null, 'k'.repeat(128), null, null],
    ],
    [
      'more than is held',
      JSON_TYPE,
      `{"result":{"kind":"task","x":"${'x'.repeat(2000)}"}}`,
      {},
      ['unknown', null, null, null, null],
    ],
    [
      'a stream',
      STREAM,
      `data: {"result":{"task":${task}}}\n\ndata: {"result":{"statusUpdate":{"status":{"state":"failed"}}}}\n\n`,
      {},
      ['success', null, 'status-update', 'failed', 'c'],
    ],
    [
      'a stream that ends in an error',
      STREAM,
      `data: {"result":${task}}\n\ndata: {"error":{"code":-1}}`,
      {},
      ['error', -1, 'task', 'completed', 'c'],
    ],
    [
      'a stream with an event without end',
      STREAM,
      `data: {"result":${task}}\n\ndata: ${'x'.repeat(3000)}\n\ndata: {"error":{}}\n\n`,
      {},
      ['success', null, 'task', 'completed', 'c'],
    ],
  ];
  test.each(cases)('%s', (_, type, text, more, told) => {
    const pieces = text.match(/[^]{1,7}/g) ?? [];
    expect(watched(type, pieces, more)).toEqual({ told, through: `${text}|end` });
  });

  test.each([JSON_TYPE, STREAM])('a body of %s that is cut is cut for the client too', (type) => {
    expect(watched(type, ['data', new Error('cut')]).through).toBe('data|cut');
  });
});
