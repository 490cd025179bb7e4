import { describe, expect, test } from '@jest/globals';

import { createExpressions } from '../../../../proxy/expression/expressions.ts';
import { defaultSampler, Sampler, samplingRule } from '../../../../proxy/telemetry/spans/sampler.ts';
import { finishedExchange } from '../context.ts';

const expressions = createExpressions();
const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };

function sampler(client: string, random: string, draw: number): Sampler {
  const rule = (source: string) => samplingRule(source, 'test', expressions);
  return new Sampler({ client: rule(client), random: rule(random) }, () => draw);
}

describe('sampling', () => {
  test('goes on with traces of clients and begins none by default', () => {
    expect(defaultSampler.decide(parent, finishedExchange())).toBe('sample (client)');
    expect(defaultSampler.decide(null, finishedExchange())).toBe('not sampled (random)');
    expect(defaultSampler.never).toBe(true);
  });

  test.each([
    ['true', 0.99, true],
    ['false', 0, false],
    ['1', 0.99, true],
    ['0', 0, false],
    ['0.25', 0.24, true],
    ['0.25', 0.26, false],
    ['5.0', 0.99, true],
    ['-1.0', 0, false],
    ['7', 0, false],
    ['"true"', 0, false],
    ['null', 0, false],
    ['jwt.sub == "alice"', 0, false],
    ['request.path == "/cart"', 0.99, true],
    ['request.path == "/cart" ? 0.5 : 0.0', 0.4, true],
    ['request.path == "/cart" ? 0.5 : 0.0', 0.6, false],
  ])('by %s draws %d and decides %s', (rule, draw, sampled) => {
    expect(sampler('true', rule, draw).decide(null, finishedExchange())).toBe(
      sampled ? 'sample (random)' : 'not sampled (random)',
    );
    expect(sampler(rule, 'true', draw).decide(parent, finishedExchange())).toBe(
      sampled ? 'sample (client)' : 'not sampled (client)',
    );
  });
});
