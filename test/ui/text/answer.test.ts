import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from '../../../src/admin/inject/answer.ts';
import { renderAnswer } from '../../../ui/text/answer.ts';

function answer(body: Buffer, bodyBytes = body.length): Answer {
  return {
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    headers: [['content-encoding', 'gzip']],
    trailers: [],
    body,
    bodyBytes,
    tookMs: 1,
    failure: undefined,
  };
}

describe('what the client got', () => {
  test('a gzip body is opened', () => {
    const body = gzipSync('{"name":"茶碗"}\n');
    expect(renderAnswer(answer(body)).split('\n').slice(2)).toEqual([
      '',
      `(${body.length} B of gzip, opened)`,
      '{"name":"茶碗"}',
      '',
    ]);
  });

  test('a body that is no text is counted', () => {
    expect(renderAnswer(answer(Buffer.from([0x89, 0x50, 0, 0xff])))).toContain('(4 B, not text)');
  });

  test('nothing in a body steers the terminal', () => {
    expect(renderAnswer(answer(Buffer.from('\u001B[2Jgone')))).toContain('␛[2Jgone');
  });

  test('the events of a language model are put together, those of anything else are shown as they are', () => {
    const chunk = (content: string, finish: string | null = null) =>
      `data: ${JSON.stringify({ model: 'm', choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;
    const stream = answer(Buffer.from(`${chunk('a ')}${chunk('b\u001B[2J', 'stop')}data: [DONE]\n\n`));
    expect(renderAnswer(stream).split('\n').slice(2)).toEqual(['', '(events put together: m, stop)', 'a b␛[2J', '']);
    const ticks = answer(Buffer.from('event: tick\ndata: {"n":1}\n\n'));
    expect(renderAnswer(ticks)).toContain('event: tick\ndata: {"n":1}\n');
  });
});
