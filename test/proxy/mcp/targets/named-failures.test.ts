import { expect, test } from '@jest/globals';
import type { TargetFailure } from '../../../../proxy/mcp/targets/contract.ts';
import { withName } from '../../../../proxy/mcp/targets/named-failures.ts';

test.each<[TargetFailure, string]>([
  [{ kind: 'broken', message: 'connection refused' }, 'target tickets: connection refused'],
  [
    { kind: 'broken', message: 'cannot resolve tickets.local', shown: 'its host name cannot be resolved' },
    'target tickets: its host name cannot be resolved',
  ],
  [{ kind: 'broken', message: 'tickets: it ended' }, 'target tickets: it ended'],
  [
    { kind: 'http', status: 503, response: null, message: 'the target answered with status 503' },
    'target tickets answered with status 503',
  ],
  [
    { kind: 'refused', status: 504, reason: 'Timeout', message: 'the target did not answer in time' },
    'target tickets did not answer in time',
  ],
])('%j names its target', (failure, message) => {
  expect(withName('tickets', failure)).toEqual({ ...failure, message });
});

test('errors that the target gives itself stay as they are, and so does success', () => {
  const failure: TargetFailure = { kind: 'rpc', error: { code: -32000, message: 'no' } };
  expect(withName('tickets', failure)).toBe(failure);
  expect(withName('tickets', null)).toBeNull();
});
