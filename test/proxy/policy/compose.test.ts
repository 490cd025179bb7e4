import { describe, expect, test } from '@jest/globals';

import { bodyForLater, composeRequest, composeResponse } from '../../../proxy/policy/compose.ts';
import { next } from '../../../proxy/policy/contract.ts';
import type { RequestLine } from '../../../proxy/policy/line.ts';
import { deps } from './build.ts';
import { fakeExpressions } from './fake-expressions.ts';

const engine = { ...deps(), expressions: fakeExpressions() };
const parts = { effective: { values: {}, sources: {} }, deps: engine, limitBytes: 8 };

function line(policy: string, expression: string): RequestLine<object> {
  return (_effective, own) => {
    own.expressions.compile(expression, policy);
    return { policy, stage: null, run: () => next, snapshot: own.snapshot };
  };
}

const names = (lines: readonly RequestLine<object>[], readLater = false): string[] =>
  composeRequest(lines, { ...parts, readLater }).map(({ policy }) => policy);

describe('the steps on a request', () => {
  test('collect no body that nobody reads', () => {
    expect(names([line('a', 'request.path'), bodyForLater, line('b', 'true')])).toEqual(['a', 'b']);
  });

  test('collect the body once, right before the first policy that reads it', () => {
    expect(names([line('a', 'true'), line('b', 'request.body'), bodyForLater, line('c', 'request.body')])).toEqual([
      'a',
      'body',
      'b',
      'c',
    ]);
  });

  test('collect it at its place when only later phases read it', () => {
    expect(names([line('a', 'true'), bodyForLater, line('b', 'true')], true)).toEqual(['a', 'body', 'b']);
  });
});

describe('the steps on a response', () => {
  const scope = { gateway: { values: {}, sources: {} }, route: null, backend: null };
  const responding = (expression: string) =>
    composeResponse(
      [
        (_scope, own) => {
          own.expressions.compile(expression, 'a');
          return { policy: 'a', stage: null, run: () => null, snapshot: own.responseSnapshot };
        },
      ],
      { scope, deps: engine, limitBytes: 8 },
    );

  test('collect the body first when one of them reads it', () => {
    expect(responding('response.body').steps.map(({ policy }) => policy)).toEqual(['body', 'a']);
    expect(responding('response.code').steps.map(({ policy }) => policy)).toEqual(['a']);
    expect(responding('request.body').reads).toEqual({ requestBody: true, responseBody: false });
  });
});
