import { describe, expect, test } from '@jest/globals';

import { createExpressions } from '../../../../proxy/expression/expressions.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import { compileDescriptors } from '../../../../proxy/policy/remote-rate-limit/descriptors.ts';
import type { RateLimitDescriptor } from '../../../../src/config/ir/policy/remote-rate-limit.ts';
import { untraced } from '../../exchange/build.ts';

const exchange = untraced({
  headers: Headers.from([
    ['x-team', 'red'],
    ['x-cost', '7'],
  ]),
});

function described(...specs: RateLimitDescriptor[]) {
  return compileDescriptors(specs, createExpressions())(exchange);
}

const entries = [{ key: 'team', value: 'request.headers["x-team"]' }];
const team = [{ key: 'team', value: 'red' }];

describe('the descriptors of a request', () => {
  test('have texts, numbers, booleans and bytes as text', () => {
    const values = ['"a"', '1', '2u', 'true', 'b"xyz"'].map((value, index) => ({ key: `k${index}`, value }));
    const [descriptor] = described({ entries: values });
    expect(descriptor?.entries.map(({ value }) => value)).toEqual(['a', '1', '2', 'true', 'eHl6']);
  });

  test.each(['request.headers["x-none"]', '[1]', '{"a": 1}', 'null', 'nonsense', '1.5'])(
    'are left out when a value is %s',
    (value) => {
      expect(described({ entries: [...entries, { key: 'k', value }] }, { entries })).toEqual([{ entries: team }]);
    },
  );

  test('count what the cost says', () => {
    expect(described({ entries, cost: 'int(request.headers["x-cost"])' })).toEqual([
      { entries: team, hitsAddend: { value: 7 } },
    ]);
    expect(described({ entries, cost: '0u' })).toEqual([{ entries: team, hitsAddend: { value: 0 } }]);
  });

  test.each(['-1', '"5"', '1.5', 'null', 'nonsense'])('are left out when the cost is %s', (cost) => {
    expect(described({ entries, cost })).toEqual([]);
  });

  test.each([
    ['{"unit": "minute", "requestsPerUnit": 5}', { unit: 'MINUTE', requestsPerUnit: 5 }],
    ['{"unit": "Hour", "requests_per_unit": 5u}', { unit: 'HOUR', requestsPerUnit: 5 }],
    ['{"unit": "year", "requestsPerUnit": 0}', { unit: 'YEAR', requestsPerUnit: 0 }],
  ])('carry the limit %s', (limitOverride, limit) => {
    expect(described({ entries, limitOverride })).toEqual([{ entries: team, limit }]);
  });

  test.each([
    '{"unit": "week", "requestsPerUnit": 5}',
    '{"unit": "constructor", "requestsPerUnit": 5}',
    '{"unit": "minute"}',
    '{"unit": "minute", "requestsPerUnit": -1}',
    '{"unit": "minute", "requestsPerUnit": 4294967296}',
    '{"unit": "minute", "requestsPerUnit": "5"}',
    '[]',
    'null',
    '"minute"',
  ])('are left out when the limit is %s', (limitOverride) => {
    expect(described({ entries, limitOverride })).toEqual([]);
  });
});
