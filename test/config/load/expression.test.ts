import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { cel, duration } from '../../../src/config/schema/scalars.ts';
import { isExpression } from '../../../src/config/schema/walk.ts';
import { expressionProblems } from '../../../src/config/load/expression.ts';

const path = ['a'];

describe('expressions of a file', () => {
  test('a mistake is told with the column inside the expression', async () => {
    expect(await expressionProblems([{ kind: 'cel', path, source: 'jwt.sub == ' }])).toEqual([
      {
        path,
        code: 'GW_CONFIG_VALUE',
        message: 'expected an expression, found the end (column 12 of the expression)',
      },
    ]);
  });

  test('in a text of several lines, the line is told too', async () => {
    expect(await expressionProblems([{ kind: 'cel', path, source: 'true &&\n  has(jwt)' }])).toMatchObject([
      { message: expect.stringContaining('(line 2, column 3 of the expression)') },
    ]);
  });

  test('names and functions that nobody knows are not mistakes of form', async () => {
    expect(await expressionProblems([{ kind: 'cel', path, source: 'nobody.knows(this)' }])).toEqual([]);
  });

  test.each([
    ['size(a) { a }', 'there is a built-in function size'],
    ['f() { 1 } f() { 2 }', 'the function f is defined twice'],
    ['f() { g() } g() { f() }', 'the function f calls itself'],
    ['f(a..., b) { a }', 'only the last parameter can take several arguments'],
    ['f(a) { a + }', 'expected an expression'],
    ['f(a) { a', 'the body of f is not closed'],
    ['f', 'expected a definition'],
  ])('function definitions: %s', async (source, reason) => {
    expect(await expressionProblems([{ kind: 'celFunctions', path, source }])).toMatchObject([
      { message: expect.stringContaining(reason) },
    ]);
  });
});

describe('a text that may be a duration or an expression', () => {
  const ttl = z.union([duration, cel]);

  test('is an expression unless it reads as a duration', () => {
    expect(isExpression(ttl, '5m')).toBe(false);
    expect(isExpression(ttl, 'duration("5m")')).toBe(true);
    expect(isExpression(ttl.optional(), 'extauthz.ttl')).toBe(true);
    expect(isExpression(ttl, 5)).toBe(false);
  });
});
