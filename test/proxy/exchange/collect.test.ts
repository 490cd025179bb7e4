import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';

import { BufferedBody, emptyBody } from '../../../proxy/exchange/body.ts';
import { collect } from '../../../proxy/exchange/collect.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { ManualBody, NotingSink } from './build.ts';

describe('collect', () => {
  test('gives a whole body with its trailers', async () => {
    const source = new ManualBody();
    const collected = collect(source, 10);
    source.send('ab', 'cd');
    source.end(Headers.from([['x-sum', '4']]));
    const result = await collected;
    if (result.kind !== 'whole') throw new Error(result.kind);
    expect(Buffer.from(result.body.bytes).toString()).toBe('abcd');
    expect(result.body.trailers?.get('x-sum')).toBe('4');
  });

  test('takes a body of exactly the limit, and an empty one', async () => {
    const source = new ManualBody();
    const collected = collect(source, 4);
    source.send('abcd');
    source.end();
    expect(await collected).toMatchObject({ kind: 'whole', body: { length: 4 } });
    expect(await collect(emptyBody, 0)).toMatchObject({ kind: 'whole', body: { length: 0 } });
  });

  test('stops the source at the limit and gives prefix and rest in order', async () => {
    const source = new ManualBody();
    const collected = collect(source, 3);
    source.send('ab', 'cd');
    expect(source.calls).toEqual(['pipe', 'pause']);
    source.send('ef');
    const result = await collected;
    if (result.kind !== 'overflow') throw new Error(result.kind);
    const sink = new NotingSink();
    result.rest.pipe(sink);
    expect(source.calls).toEqual(['pipe', 'pause', 'resume']);
    source.send('gh');
    source.end();
    expect(sink.events).toEqual(['ab', 'cd', 'ef', 'gh', 'end']);
  });

  test('delivers the prefix under back-pressure', async () => {
    const source = new ManualBody();
    const collected = collect(source, 3);
    source.send('ab', 'cd');
    const result = await collected;
    if (result.kind !== 'overflow') throw new Error(result.kind);
    const sink = new NotingSink(result.rest);
    result.rest.pipe(sink);
    expect(sink.events).toEqual(['ab']);
    result.rest.resume();
    expect(sink.events).toEqual(['ab', 'cd']);
    expect(source.paused).toBe(true);
    result.rest.resume();
    expect(source.paused).toBe(false);
  });

  test('does not read a body whose length is known to be too much', async () => {
    const source = new ManualBody();
    source.length = 11;
    expect(await collect(source, 10)).toEqual({ kind: 'overflow', rest: source });
    expect(source.calls).toEqual([]);
  });

  test('tells of a cut, before and after the limit', async () => {
    const source = new ManualBody();
    const collected = collect(source, 3);
    source.send('ab');
    source.fail('reset');
    expect(await collected).toMatchObject({ kind: 'failed', error: { message: 'reset' } });

    const large = new ManualBody();
    const overflowing = collect(large, 1);
    large.send('abcd');
    large.fail('reset');
    const result = await overflowing;
    if (result.kind !== 'overflow') throw new Error(result.kind);
    const sink = new NotingSink();
    result.rest.pipe(sink);
    expect(sink.events).toEqual(['error reset']);
  });

  test('gives up and cancels the body when aborted', async () => {
    const source = new ManualBody();
    const abort = new AbortController();
    const collected = collect(source, 10, abort.signal);
    source.send('ab');
    abort.abort(new Error('too slow'));
    expect(await collected).toMatchObject({ kind: 'failed', error: { message: 'too slow' } });
    expect(source.calls).toEqual(['pipe', 'cancel']);
    expect(await collect(new ManualBody(), 10, abort.signal)).toMatchObject({ kind: 'failed' });
  });

  test('loses no byte, whatever the chunks and the limit', async () => {
    const chunks = fc.array(fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.nat({ max: 20 }), async (parts, limit) => {
        const source = new ManualBody();
        const collected = collect(source, limit);
        source.send(...parts);
        source.end();
        const result = await collected;
        if (result.kind === 'failed') throw result.error;
        const body = result.kind === 'whole' ? result.body : result.rest;
        const sink = new NotingSink();
        body.pipe(sink);
        expect(sink.events.join('|').endsWith('end')).toBe(true);
        expect(sink.events.slice(0, -1).join('')).toBe(parts.join(''));
        expect(result.kind).toBe(parts.join('').length > limit ? 'overflow' : 'whole');
      }),
    );
  });

  test('keeps a body that is in memory already', async () => {
    const body = new BufferedBody(Buffer.from('abc'));
    expect(await collect(body, 3)).toEqual({ kind: 'whole', body });
  });

  test('holds a body in memory to its limit, also one whose trailers leave it without a length', async () => {
    const body = new BufferedBody(Buffer.from('abc'), Headers.from([['x-sum', '1']]));
    expect(body.length).toBeNull();
    expect((await collect(body, 3)).kind).toBe('whole');
    expect((await collect(body, 2)).kind).toBe('overflow');
  });
});
