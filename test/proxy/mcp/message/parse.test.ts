import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { parseMessage } from '../../../../proxy/mcp/message/parse.ts';
import { writeMessage } from '../../../../proxy/mcp/message/write.ts';
import { MAX_DEPTH } from '../../../../proxy/mcp/message/exact-json.ts';

function read(text: string) {
  const parsed = parseMessage(text);
  return parsed.kind === 'message' ? parsed.message : parsed.error;
}

const call = (rest: string): string => `{"jsonrpc":"2.0",${rest}}`;

describe('parseMessage', () => {
  test('tells requests, notifications, results and errors apart', () => {
    expect(read(call('"id":1,"method":"ping"'))).toEqual({ kind: 'request', id: 1, method: 'ping', params: undefined });
    expect(read(call('"method":"a","params":{"x":1}'))).toEqual({
      kind: 'notification',
      method: 'a',
      params: { x: 1 },
    });
    expect(read(call('"id":"a","result":{}'))).toEqual({ kind: 'result', id: 'a', result: {} });
    expect(read(call('"id":1,"error":{"code":-1,"message":"no","data":[1]}'))).toEqual({
      kind: 'error',
      id: 1,
      error: { code: -1, message: 'no', data: [1] },
    });
  });

  test.each(['0', '-7', '1.5', '9007199254740991', '""', '"a b"', '"7"', '1.50', '1e3'])('takes the id %s', (id) => {
    expect(read(call(`"id":${id},"method":"ping"`))).toMatchObject({ kind: 'request', id: JSON.parse(id) });
  });

  test.each(['null', 'true', '{}', '[1]', '9007199254740993', '1e999'])('refuses the id %s', (id) => {
    expect(read(call(`"id":${id},"method":"ping"`))).toMatchObject({ code: -32_600 });
  });

  test('takes an error whose request could not be told', () => {
    expect(read(call('"id":null,"error":{"code":-32700,"message":"?"}'))).toMatchObject({ kind: 'error', id: null });
    expect(read(call('"error":{"code":-32700,"message":"?"}'))).toMatchObject({ kind: 'error', id: null });
  });

  test.each([
    ['nothing', '', -32_700],
    ['no JSON', 'jsonrpc', -32_700],
    ['two messages', `${call('"method":"a"')} ${call('"method":"b"')}`, -32_700],
    ['half a message', '{"jsonrpc":"2.0","id":1,"meth', -32_700],
    ['a byte order mark', `\uFEFF${call('"method":"a"')}`, -32_700],
    ['a batch', `[${call('"id":1,"method":"ping"')}]`, -32_600],
    ['an empty batch', '[]', -32_600],
    ['null', 'null', -32_600],
    ['a string', '"ping"', -32_600],
    ['a number that no double holds', '12345678901234567890', -32_600],
    ['no version', '{"id":1,"method":"ping"}', -32_600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"ping"}', -32_600],
    ['a method that is no string', call('"id":1,"method":7'), -32_600],
    ['an empty method', call('"id":1,"method":""'), -32_600],
    ['neither question nor answer', call('"id":1'), -32_600],
    ['both question and answer', call('"id":1,"method":"a","result":{}'), -32_600],
    ['both result and error', call('"id":1,"result":{},"error":{"code":1,"message":""}'), -32_600],
    ['a result without id', call('"result":{}'), -32_600],
    ['a result that is no object', call('"id":1,"result":[1]'), -32_600],
    ['an error without code', call('"id":1,"error":{"message":"x"}'), -32_600],
    ['an error that is text', call('"id":1,"error":"x"'), -32_600],
  ])('refuses %s', (_what, text, code) => {
    expect(read(text)).toMatchObject({ code });
  });

  test.each(['[1]', '"x"', '7', 'null', 'false'])('tells id and method of a request whose params are %s', (params) => {
    expect(parseMessage(call(`"id":5,"method":"tools/call","params":${params}`))).toMatchObject({
      kind: 'invalid',
      id: 5,
      method: 'tools/call',
      error: { code: -32_602 },
    });
  });

  test('lets the last of two members count, as it goes on', () => {
    const message = read(call('"id":1,"method":"ping","method":"tools/list","id":2'));
    expect(message).toMatchObject({ id: 2, method: 'tools/list' });
  });

  test('is not changed by members that look like a prototype', () => {
    const parsed = parseMessage(call('"id":1,"method":"a","params":{"__proto__":{"polluted":true},"constructor":1}'));
    if (parsed.kind !== 'message') throw new Error('not read');
    expect(writeMessage(parsed.message)).toContain('"__proto__":{"polluted":true}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test('keeps numbers that a double does not hold', () => {
    const numbers =
      '[12345678901234567890,0.1234567890123456789,1e400,-0.0000000000000000000001,1.0,100000000000000000000,1E5]';
    const parsed = parseMessage(call(`"id":1,"result":{"structuredContent":{"n":${numbers}}}`));
    if (parsed.kind !== 'message') throw new Error('not read');
    const written = writeMessage(parsed.message);
    expect(written).toContain('12345678901234567890,0.1234567890123456789,1e400');
    expect(JSON.parse(written)).toEqual(JSON.parse(call(`"id":1,"result":{"structuredContent":{"n":${numbers}}}`)));
  });

  test('refuses what is nested so deeply that it could not be written', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
      const message = (depth: number): string => call(`"id":1,"method":"a","params":{"x":${nested(depth)}}`);
      expect(read(message(200_000))).toMatchObject({ code: -32_700, message: 'message is nested too deeply' });
      const most = parseMessage(message(MAX_DEPTH - 2));
      if (most.kind !== 'message') throw new Error('not read');
      expect(writeMessage(most.message)).toBe(message(MAX_DEPTH - 2));
    }
    const brackets = JSON.stringify('\\"[{'.repeat(5000));
    expect(read(call(`"id":1,"method":"a","params":{"x":${brackets}}`))).toMatchObject({ kind: 'request' });
  });

  test('is not held up by numbers with very many zeros', () => {
    const digits = `0.1${'0'.repeat(1_000_000)}1`;
    const params = `{"x":${digits},"y":0.1${'0'.repeat(20)}}`;
    const parsed = parseMessage(call(`"id":1,"method":"a","params":${params}`));
    if (parsed.kind !== 'message') throw new Error(parsed.error.message);
    expect(writeMessage(parsed.message)).toBe(call(`"id":1,"method":"a","params":{"x":${digits},"y":0.1}`));
  });

  test('reads what was written as it was', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })).map((value) => JSON.stringify(value));
    const id = fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    fc.assert(
      fc.property(id, fc.string({ minLength: 1 }), object, (ofId, method, params) => {
        const text = `{"jsonrpc":"2.0","id":${JSON.stringify(ofId)},"method":${JSON.stringify(method)},"params":${params}}`;
        const parsed = parseMessage(text);
        if (parsed.kind !== 'message') throw new Error(parsed.error.message);
        expect(JSON.parse(writeMessage(parsed.message))).toEqual(JSON.parse(text));
      }),
    );
  });

  test('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => void parseMessage(text)));
  });
});
