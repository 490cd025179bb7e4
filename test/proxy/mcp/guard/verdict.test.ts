import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { type Verdict, verdictOf, Violation } from '../../../../proxy/mcp/guard/verdict.ts';
import { checkMcpResponse } from '../../../../proxy/services/messages/mcp.ts';
import { writeExtMcp } from '../../../services/ext-mcp.ts';

/** The verdict in bytes of any kind; `unread` and `violation` are the only ways in which there is none. */
function kindIn(bytes: Uint8Array): string {
  let answer;
  try {
    answer = checkMcpResponse.decode(bytes);
  } catch {
    return 'unread';
  }
  return kindOf(() => verdictOf(answer, true));
}

function kindOf(judge: () => Verdict): string {
  try {
    const verdict = judge();
    const told = verdict.kind !== 'reject' || (Number.isInteger(verdict.error.code) && verdict.error.message !== '');
    return told ? verdict.kind : 'nothing for the client';
  } catch (error) {
    return error instanceof Violation ? 'violation' : String(error);
  }
}

const KINDS = ['unread', 'violation', 'pass', 'mutated', 'reject'];

describe('verdicts of processors', () => {
  test('are read from any bytes, or refused as what they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => KINDS.includes(kindIn(bytes))),
      { numRuns: 2000 },
    );
  });

  test('put any JSON object in the place of a message, and nothing else', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const mutated = Buffer.from(JSON.stringify(value));
        const answer = checkMcpResponse.decode(writeExtMcp('McpResponseResult', { mutated }));
        const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
        expect(kindOf(() => verdictOf(answer, true))).toBe(isObject ? 'mutated' : 'violation');
        expect(verdictOf(answer, false)).toEqual({ kind: 'pass' });
      }),
    );
  });

  test.each([
    ['reject', [{ pass: {} }, { mutated: Buffer.from('{}') }, { error: { code: 'INVALID', reason: 'no' } }]],
    ['mutated', [{ error: {} }, { mutated: Buffer.from('{}') }]],
  ])('%s when that is the last of several, as messages of protobuf are merged', (kind, results) => {
    const bytes = Buffer.concat(results.map((result) => writeExtMcp('McpResponseResult', result)));
    expect(verdictOf(checkMcpResponse.decode(bytes), true)).toMatchObject({ kind });
  });
});
