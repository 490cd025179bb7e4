import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';

import { conditionally } from '../../../src/config/schema/policy/conditional.ts';
import { duration } from '../../../src/config/schema/scalars.ts';

const shape = { status: z.int(), wait: duration.optional(), list: z.array(z.string()).default([]) };
const policy = conditionally('Answers.', shape, {
  rule: (keys, add) => {
    if (keys['status'] === 1) add('one is not allowed', { at: 'status' });
  },
});

function problems(value: unknown): string[] {
  const parsed = policy.safeParse(value);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('a policy with a conditional form', () => {
  test('gives one entry for the plain form, defaults filled in', () => {
    expect(policy.parse({ status: 2, wait: '1s' })).toEqual({
      entries: [{ settings: { status: 2, wait: 1000, list: [] } }],
    });
  });

  test('gives the entries in order, defaults filled in', () => {
    const conditional = [
      { condition: 'x', status: 2 },
      { status: 3, list: ['a'] },
    ];
    expect(policy.parse({ conditional })).toEqual({
      entries: [{ condition: 'x', settings: { status: 2, list: [] } }, { settings: { status: 3, list: ['a'] } }],
    });
  });

  test('requires what the plain form requires', () => {
    expect(problems({})).toEqual([': `status` is required']);
    expect(problems({ conditional: [{ condition: 'x' }] })).toHaveLength(1);
  });

  test('refuses both forms together, also when a key holds its default', () => {
    expect(problems({ list: [], conditional: [{ status: 2 }] })).toEqual([
      'list: `conditional` stands alone: its entries hold the settings',
    ]);
  });

  test('refuses an entry without a condition before the last, and lists that are empty or too long', () => {
    expect(problems({ conditional: [{ status: 2 }, { condition: 'x', status: 2 }] })).toEqual([
      'conditional.0: an entry without a condition may only be the last: those behind it are never reached',
    ]);
    expect(problems({ conditional: [] })).toHaveLength(1);
    expect(problems({ conditional: Array.from({ length: 65 }, () => ({ condition: 'x', status: 2 })) })).toHaveLength(
      1,
    );
  });

  test('checks the rule of the settings in both forms', () => {
    expect(problems({ status: 1 })).toEqual(['status: one is not allowed']);
    expect(problems({ conditional: [{ status: 1 }] })).toEqual(['conditional.0.status: one is not allowed']);
  });
});
