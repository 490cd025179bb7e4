import { describe, expect, test } from '@jest/globals';

import { isNamedBy, overlaps } from '../../src/config/model-pattern.ts';

describe('a pattern of model names', () => {
  test.each([
    ['*', 'anything', true],
    ['gpt-*', 'gpt-5', true],
    ['gpt-*', 'gpt-', true],
    ['gpt-*', 'xgpt-5', false],
    ['*-latest', 'claude-latest', true],
    ['*-latest', 'claude-latest-1', false],
    ['gpt', 'gpt', true],
    ['gpt', 'gpt-5', false],
    ['gpt-*', 'gpt-*', true],
  ])('%s stands for %s: %s', (pattern, name, expected) => {
    expect(isNamedBy(pattern, name)).toBe(expected);
  });

  test.each([
    ['gpt-*', 'gpt-5-*', true],
    ['gpt-*', 'claude-*', false],
    ['*-latest', '*-5-latest', true],
    ['*-latest', '*-old', false],
    ['gpt-*', '*-latest', true],
    ['*', 'x*', true],
    ['gpt-5', 'gpt-*', true],
    ['gpt-*', 'o1', false],
  ])('%s and %s have names in common: %s', (left, right, expected) => {
    expect(overlaps(left, right)).toBe(expected);
    expect(overlaps(right, left)).toBe(expected);
  });
});
