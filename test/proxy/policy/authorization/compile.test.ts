import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { authorization } from '../../../../proxy/policy/authorization/compile.ts';
import type { RequestStep } from '../../../../proxy/policy/contract.ts';
import type { AuthorizationRule } from '../../../../src/config/ir/index.ts';
import { traced, untraced } from '../../exchange/build.ts';
import { context, deps } from '../build.ts';
import { fakeExpressions } from '../fake-expressions.ts';

/** `allow yes`, `deny no`, `require broken`, in words. */
function rules(...words: string[]): AuthorizationRule[] {
  return words.map((word) => {
    const [mode, expression = ''] = word.split(' ');
    return { mode: mode === 'deny' || mode === 'require' ? mode : 'allow', expression };
  });
}

/** Expressions that note in which order they were asked. */
function noting() {
  const evaluated: string[] = [];
  const compiled: string[] = [];
  const means = (source: string, value: unknown) => () => {
    evaluated.push(source);
    if (value === undefined) throw new Error('broken');
    return value;
  };
  const { compile } = fakeExpressions({
    yes: means('yes', true),
    no: means('no', false),
    text: means('text', 'true'),
    broken: means('broken', undefined),
  });
  return {
    evaluated,
    compiled,
    compile: (source: string, where: string) => {
      compiled.push(`${where}: ${source}`);
      return compile(source, where);
    },
  };
}

function compiled(list: readonly AuthorizationRule[], expressions = noting()) {
  const step = authorization({ rules: list }, context({ ...deps(), expressions }));
  return { step, expressions };
}

function passes(step: RequestStep | null): boolean {
  if (step === null) return true;
  const outcome = step(untraced());
  return 'kind' in outcome && outcome.kind === 'next';
}

describe('authorization', () => {
  test.each([
    ['no rule at all', true, []],
    ['an allow that holds', true, ['allow yes']],
    ['an allow that does not', false, ['allow no']],
    ['one of several allows', true, ['allow no', 'allow yes']],
    ['a deny that does not hold', true, ['deny no']],
    ['a deny that holds', false, ['deny yes']],
    ['a deny that holds beside an allow that does', false, ['allow yes', 'deny yes']],
    ['a deny that fails', true, ['deny broken']],
    ['a deny that is a text', true, ['deny text']],
    ['a deny that does not hold, without the allow that would', false, ['deny no', 'allow no']],
    ['a require that holds', true, ['require yes']],
    ['one of several requires that does not', false, ['require yes', 'require no']],
    ['a require that fails', false, ['require broken']],
    ['a require that is a text', false, ['require text']],
    ['a require without the allow beside it', false, ['require yes', 'allow no']],
    ['a require and an allow', true, ['require yes', 'allow yes']],
    ['an allow that fails', false, ['allow broken']],
    ['an allow that is a text', false, ['allow text']],
  ])('with %s: %p', (_what, expected, words) => {
    expect(passes(compiled(rules(...words)).step)).toBe(expected);
  });

  test('answers 403 and says why', () => {
    expect(compiled(rules('deny yes')).step?.(untraced())).toEqual({
      kind: 'fail',
      refusal: { status: 403, reason: 'Authorization', message: 'authorization failed' },
    });
  });

  test('asks denies first, then requires, then allows, and stops at what decides', () => {
    const { step, expressions } = compiled(rules('allow yes', 'allow broken', 'require text', 'deny no', 'require no'));
    expect(passes(step)).toBe(false);
    expect(expressions.evaluated).toEqual(['no', 'text']);
  });

  test('names its rules to expressions by mode and number', () => {
    const { expressions } = compiled(rules('allow yes', 'deny no', 'allow no'));
    expect(expressions.compiled).toEqual([
      'authorization allow[0]: yes',
      'authorization deny[0]: no',
      'authorization allow[1]: no',
    ]);
  });

  test('tells a trace the outcome of every rule, and which resource said so', () => {
    const list = [
      { mode: 'allow', expression: 'yes', source: 'route default/r1' },
      { mode: 'deny', expression: 'no', source: 'policy default/p on gateway default/default' },
      { mode: 'require', expression: 'broken' },
    ] as const;
    const { exchange, messages } = traced();
    compiled(list).step?.(exchange);
    expect(messages).toEqual([
      {
        type: 'authorizationResult',
        rules: [
          { name: 'yes', matched: true, mode: 'allow', source: 'route default/r1' },
          { name: 'no', matched: false, mode: 'deny', source: 'policy default/p on gateway default/default' },
          { name: 'broken', matched: false, mode: 'require' },
        ],
        result: 'deny',
      },
    ]);
  });

  test('decides the same with a trace as without', () => {
    const rule = fc.record({
      mode: fc.constantFrom('allow', 'deny', 'require'),
      expression: fc.constantFrom('yes', 'no', 'text', 'broken'),
    });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), (list) => {
        const { step } = compiled(list);
        expect(step?.(traced().exchange)).toEqual(step?.(untraced()));
      }),
    );
  });
});
