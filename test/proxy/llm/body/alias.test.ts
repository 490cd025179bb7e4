import { describe, expect, test } from '@jest/globals';

import { modelAlias } from '../../../../proxy/llm/body/alias.ts';

describe('the alias of a model', () => {
  const alias = modelAlias({
    fast: 'gpt-mini',
    'gpt-*': 'general',
    'gpt-*-turbo': 'turbo',
    '*-latest': 'newest',
    'a*b*c': 'middle',
    'x.y': 'dot',
    general: 'twice',
  });

  test.each([
    ['fast', 'gpt-mini'],
    ['gpt-5', 'general'],
    ['gpt-5-turbo', 'turbo'],
    ['claude-latest', 'newest'],
    ['abc', 'middle'],
    ['a-b-b-c', 'middle'],
    ['ac', 'ac'],
    ['xzy', 'xzy'],
    ['general', 'twice'],
    ['gpt--turb', 'general'],
    ['', ''],
  ])('of %s is %s', (model, known) => {
    expect(alias(model)).toBe(known);
  });

  test('costs time linear in the name, whatever the pattern', () => {
    const hostile = modelAlias({ [`${'*a'.repeat(60)}*b`]: 'never' });
    expect(hostile('a'.repeat(100_000))).toHaveLength(100_000);
  });

  test('is the name itself without aliases', () => {
    expect(modelAlias(undefined)('m')).toBe('m');
  });
});
