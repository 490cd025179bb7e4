import { describe, expect, test } from '@jest/globals';
import { argumentsOf } from '../../src/mcp/arguments.ts';
import type { GwError } from '../../src/shared/errors.ts';
import type { JsonObject } from '../../src/shared/json.ts';
import { toolColumns } from '../../ui/text/mcp.ts';

const ORDER: JsonObject = {
  type: 'object',
  properties: {
    path: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
    query: { type: 'object', properties: { currency: { type: 'string' } }, required: ['currency'] },
    note: { type: 'string' },
    'a.b': { type: 'number' },
  },
  required: ['path'],
};

describe('arguments in words', () => {
  test('name fields of an argument that is an object', () => {
    expect(argumentsOf(['path.id=3', 'query.currency=007', 'note=path.id=3'], ORDER)).toEqual({
      path: { id: 3 },
      query: { currency: '007' },
      note: 'path.id=3',
    });
    expect(argumentsOf(['path:={"id":3}', 'path.more:=[1]'], ORDER)).toEqual({ path: { id: 3, more: [1] } });
  });

  test('with a dot in a name of their own are found by it', () => {
    expect(argumentsOf(['a.b=2', 'other.id=3'], ORDER)).toEqual({ 'a.b': 2, 'other.id': '3' });
  });

  test('that only a group knows are refused with the name they have there', () => {
    let refused: GwError | undefined;
    try {
      argumentsOf(['id=3'], ORDER);
    } catch (error) {
      refused = error as GwError;
    }
    expect([refused?.message, refused?.hint]).toEqual(['the argument id is a field of path', 'path.id=…']);
  });

  test('cannot reach the prototype of anything', () => {
    const given = argumentsOf(['__proto__.polluted=1', '__proto__:={"polluted":1}', 'path.__proto__:={"x":1}'], ORDER);
    expect(Object.keys(given)).toEqual(['__proto__.polluted', '__proto__', 'path']);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

test('the list of tools names fields as a call does', () => {
  const column = toolColumns.find(({ title }) => title === 'ARGUMENTS');
  expect(column?.value({ name: 'order', inputSchema: ORDER })).toBe('path.id [query.currency] [note] [a.b]');
});
