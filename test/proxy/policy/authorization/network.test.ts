import { describe, expect, test } from '@jest/globals';

import type { EvalContext } from '../../../../proxy/expression/contract.ts';
import { networkAuthorization } from '../../../../proxy/policy/authorization/network.ts';
import { LogFilter, Logger } from '../../../../src/shared/log.ts';
import { connection, untraced } from '../../exchange/build.ts';
import { deps } from '../build.ts';
import { fakeExpressions } from '../fake-expressions.ts';

const arrival: EvalContext = { ...untraced(), connection, request: null, response: null, progress: null, trace: null };

function debugLog() {
  const lines: string[] = [];
  const filter = LogFilter.parse('debug');
  if (typeof filter === 'string') throw new TypeError(filter);
  return { lines, log: new Logger({ filter, format: 'text', write: (line) => void lines.push(line) }) };
}

/** The fake knows no variables; this one takes them for what stands before the first dot. */
function expressions(meanings: Parameters<typeof fakeExpressions>[0] = {}) {
  const { compile } = fakeExpressions(meanings);
  return {
    compile: (source: string, where: string) => {
      const compiled = compile(source, where);
      const variables = new Set(source.includes('.') ? [source.slice(0, source.indexOf('.'))] : []);
      return { ...compiled, reads: { ...compiled.reads, variables } };
    },
  };
}

describe('rules about connections', () => {
  test('decide by the addresses', () => {
    const own = {
      ...deps(),
      expressions: expressions({ 'source.address': (context) => context.connection.sourceAddress === '10.0.0.9' }),
    };
    const rule = { expression: 'source.address' };
    expect(networkAuthorization({ rules: [{ mode: 'allow', ...rule }] }, own)?.(arrival)).toBe(true);
    expect(networkAuthorization({ rules: [{ mode: 'deny', ...rule }] }, own)?.(arrival)).toBe(false);
    expect(networkAuthorization({ rules: [] }, own)).toBeNull();
  });

  test('tell the debug log which of them denied', () => {
    const { lines, log } = debugLog();
    const own = { ...deps(), log, expressions: expressions() };
    networkAuthorization({ rules: [{ mode: 'require', expression: 'false' }] }, own)?.(arrival);
    expect(lines.join('')).toMatch(/connection denied.*10\.0\.0\.9.*require false: false/);
  });

  test('cannot be about requests', () => {
    const own = { ...deps(), expressions: expressions({ 'request.path': () => true }) };
    expect(() => networkAuthorization({ rules: [{ mode: 'deny', expression: 'request.path' }] }, own)).toThrow(
      'networkAuthorization deny[0] from frontendPolicies.networkAuthorization: a connection has no `request`',
    );
  });
});
