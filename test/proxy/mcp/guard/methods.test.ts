import { describe, expect, test } from '@jest/globals';

import { compileMethods } from '../../../../proxy/mcp/guard/methods.ts';
import type { McpGuardPhase } from '../../../../src/config/ir/policy/mcp-guardrails.ts';

const patterns: readonly (readonly [string, McpGuardPhase])[] = [
  ['tools/call', 'request'],
  ['tools/list', 'off'],
  ['tools/*', 'full'],
  ['*/list', 'response'],
];

describe('methods that a processor looks at', () => {
  test.each([
    ['tools/call', true, false],
    ['tools/list', false, false],
    ['tools/other', true, true],
    ['prompts/list', false, true],
    ['prompts/get', false, false],
    ['', false, false],
    ['__proto__', false, false],
  ])('%s: requests %s, answers %s', (method, request, response) => {
    const looksAt = compileMethods(patterns);
    expect([looksAt(method, 'request'), looksAt(method, 'response')]).toEqual([request, response]);
  });

  test('are all of them behind `*`', () => {
    const looksAt = compileMethods([['*', 'full']]);
    expect(looksAt('anything', 'request') && looksAt('', 'response')).toBe(true);
  });

  test.each(['resources/subscribe', 'completion/complete', 'tasks/get', 'tasks/update', 'tasks/cancel'])(
    'never include requests of %s',
    (method) => {
      const looksAt = compileMethods([['*', 'full']]);
      expect([looksAt(method, 'request'), looksAt(method, 'response')]).toEqual([false, true]);
    },
  );
});
