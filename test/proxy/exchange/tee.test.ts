import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../proxy/exchange/body.ts';
import type { TeeCopy } from '../../../proxy/exchange/tee.ts';
import { teeBody } from '../../../proxy/exchange/tee.ts';
import { ManualBody, NotingSink } from './build.ts';

function tee(source: ManualBody, limit: number) {
  const copies: string[] = [];
  const sink = new NotingSink();
  const body = teeBody(source, limit, (copy) => copies.push(describeCopy(copy)));
  return { body, sink, copies };
}

function describeCopy(copy: TeeCopy): string {
  return copy.kind === 'whole' ? Buffer.from(copy.body.bytes).toString() : copy.reason;
}

describe('teeBody', () => {
  test('streams on and gives the copy when the body is complete', () => {
    const source = new ManualBody();
    const { body, sink, copies } = tee(source, 4);
    body.pipe(sink);
    source.send('ab');
    expect(sink.events).toEqual(['ab']);
    expect(copies).toEqual([]);
    source.send('cd');
    source.end();
    expect(sink.events).toEqual(['ab', 'cd', 'end']);
    expect(copies).toEqual(['abcd']);
  });

  test('drops the copy, and says why, but not the stream', () => {
    const source = new ManualBody();
    const { body, sink, copies } = tee(source, 3);
    body.pipe(sink);
    source.send('ab', 'cd');
    expect(copies).toEqual(['the body is larger than 3 bytes']);
    source.end();
    expect(sink.text).toBe('abcd');
    expect(copies).toHaveLength(1);
  });

  test('tells of a body that was cut or given up', () => {
    const cut = new ManualBody();
    const first = tee(cut, 9);
    first.body.pipe(first.sink);
    cut.fail('reset');
    expect(first.copies).toEqual(['the body was cut: reset']);
    expect(first.sink.events).toEqual(['error reset']);

    const left = new ManualBody();
    const second = tee(left, 9);
    second.body.pipe(second.sink);
    second.body.cancel();
    expect(second.copies).toEqual(['the request ended before its body was read']);
    expect(left.calls).toEqual(['pipe', 'cancel']);
  });

  test('passes back-pressure on', () => {
    const source = new ManualBody();
    const { body, sink } = tee(source, 9);
    body.pipe(sink);
    body.pause();
    body.resume();
    expect(source.calls).toEqual(['pipe', 'pause', 'resume']);
  });

  test('answers at once when nothing has to be waited for', () => {
    const copies: string[] = [];
    const note = (copy: TeeCopy): number => copies.push(describeCopy(copy));
    const whole = new BufferedBody(Buffer.from('abc'));
    const large = new ManualBody();
    large.length = 10;
    expect(teeBody(emptyBody, 9, note)).toBe(emptyBody);
    expect(teeBody(whole, 9, note)).toBe(whole);
    expect(teeBody(large, 9, note)).toBe(large);
    expect(copies).toEqual(['', 'abc', 'the body is larger than 9 bytes']);
  });
});
