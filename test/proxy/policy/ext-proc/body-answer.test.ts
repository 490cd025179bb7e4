import { describe, expect, test } from '@jest/globals';

import { type BodyAnswer, BodyAnswerReader } from '../../../../proxy/policy/ext-proc/body-answer.ts';
import { Ended } from '../../../../proxy/policy/ext-proc/ended.ts';
import type { Reply } from '../../../../proxy/policy/ext-proc/reply.ts';
import type { BodyMutation } from '../../../../proxy/services/messages/process.ts';

/** Reads replies; gives the answer, or what was wrong. */
function read(...replies: readonly Partial<Reply>[]): BodyAnswer | string | null {
  let outcome: BodyAnswer | string | null = null;
  const reader = new BodyAnswerReader({
    maxBytes: 8,
    breach: (message) => (outcome = message),
    resolve: (answer) => (outcome = answer),
    reject: (ended) => (outcome = ended.message),
  });
  for (const reply of replies) {
    const rest = { headerMutation: null, bodyMutation: null, dynamicMetadata: null, modeOverride: null };
    reader.onReply({ part: 'body', ...rest, ...reply });
    if (outcome !== null) break;
  }
  if (outcome === null) reader.onEnded(new Ended('over'));
  return outcome;
}

const body = (bodyMutation: BodyMutation): Partial<Reply> => ({ bodyMutation });
const piece = (text: string, endOfStream = false) =>
  body({ streamedResponse: { body: Buffer.from(text), endOfStream } });
const text = (answer: BodyAnswer | string | null) =>
  answer === null || typeof answer === 'string' ? answer : Buffer.from(answer.body ?? []).toString();

describe('the answer to a body in one message', () => {
  test('keeps, replaces or clears it', () => {
    expect(read({})).toEqual({ headers: null, body: null, mustFit: true });
    expect(read(body({ body: Buffer.from('x') }))).toMatchObject({ body: Buffer.from('x'), mustFit: true });
    expect(read(body({ clearBody: true }))).toMatchObject({ body: new Uint8Array(0), mustFit: false });
    expect(read(body({ clearBody: false }))).toMatchObject({ body: null });
  });

  test('may come in pieces, with changes of headers in the first', () => {
    const headerMutation = { removeHeaders: ['x'] };
    const answer = read({ ...piece('ab'), headerMutation }, piece(''), piece('c', true));
    expect(text(answer)).toBe('abc');
    expect(answer).toMatchObject({ headers: headerMutation, mustFit: false });
    expect(text(read(piece('', true)))).toBe('');
  });

  test('is nonsense when it mixes, is of another part, is too long or does not end', () => {
    expect(read(piece('a'), {})).toBe('broke a streamed answer off');
    expect(read(piece('a'), body({ body: Buffer.from('x') }))).toBe('broke a streamed answer off');
    expect(read({ part: 'trailers' })).toBe('answered a body with trailers');
    expect(read(piece('12345678'), piece('9', true))).toBe('sent a body of more than 8 bytes');
    expect(read(piece('1234'))).toBe('over');
  });
});
