import { describe, expect, test } from '@jest/globals';

import { compileChoice } from '../../../proxy/policy/conditional.ts';
import type { Choice } from '../../../src/config/ir/policy/conditional.ts';
import { traced, untraced } from '../exchange/build.ts';
import { context, deps } from './build.ts';
import { fakeExpressions, type Meaning } from './fake-expressions.ts';

function chooser(choice: Choice<string>, meanings: Record<string, Meaning> = {}) {
  const own = context({ ...deps(), expressions: fakeExpressions(meanings) });
  const place = { policy: 'extAuthz', kind: 'ext_auth', context: own, sides: 'both' } as const;
  return compileChoice(choice, place, (settings) => settings.toUpperCase());
}

describe('a choice of settings', () => {
  test('takes the first entry whose condition is true, and an error counts as not true', () => {
    const choice = {
      entries: [
        { condition: 'broken', settings: 'a' },
        { condition: 'false', settings: 'b' },
        { condition: 'true', settings: 'c' },
        { settings: 'd' },
      ],
    };
    expect(chooser(choice).choose(untraced())).toBe('C');
  });

  test('falls back to the entry without a condition, or to nothing', () => {
    const entry = { condition: 'false', settings: 'a' };
    expect(chooser({ entries: [entry, { settings: 'z' }] }).choose(untraced())).toBe('Z');
    expect(chooser({ entries: [entry] }).choose(untraced())).toBeNull();
  });

  test('is made once: the response side gets what the request side has chosen, whatever holds by then', () => {
    const choice = { entries: [{ condition: 'path is a', settings: 'a' }, { settings: 'z' }] };
    const meanings = { 'path is a': (at: { request: { target: string } | null }) => at.request?.target === '/a' };
    const onRequest = chooser(choice, meanings);
    const onResponse = chooser(choice, meanings);
    const exchange = untraced({ target: '/a' });
    expect(onResponse.chosen(exchange)).toBeNull();
    expect(onRequest.choose(exchange)).toBe('A');
    exchange.request.target = '/b';
    expect(onResponse.chosen(exchange)).toBe('A');
  });

  test('tells a trace each condition that was tried, by its place', () => {
    const { exchange, messages, policies } = traced();
    const own = chooser({
      entries: [
        { condition: 'false', settings: 'a' },
        { condition: 'true', settings: 'b' },
      ],
    });
    own.choose(exchange);
    expect(messages).toMatchObject([
      {
        type: 'policyEvent',
        kind: 'ext_auth',
        details: 'condition of conditional[0] does not hold (from route default/r1)',
      },
      { type: 'policyEvent', kind: 'ext_auth', details: 'condition of conditional[1] holds (from route default/r1)' },
    ]);
    chooser({ entries: [{ condition: 'false', settings: 'a' }] }).choose(exchange);
    expect(policies).toEqual(['ext_auth: no condition holds']);
  });

  test('tells nothing when there is nothing to choose', () => {
    const { exchange, messages } = traced();
    expect(chooser({ entries: [{ settings: 'a' }] }).choose(exchange)).toBe('A');
    expect(messages).toEqual([]);
  });
});
