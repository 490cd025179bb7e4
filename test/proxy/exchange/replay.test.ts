import { describe, expect, test } from '@jest/globals';

import { emptyBody } from '../../../proxy/exchange/body.ts';
import { ReplayableBody } from '../../../proxy/exchange/replay.ts';
import { ManualBody, NotingSink } from './build.ts';

describe('ReplayableBody', () => {
  test('streams the first attempt without waiting for the end', () => {
    const source = new ManualBody();
    const sink = new NotingSink();
    new ReplayableBody(source).attempt().pipe(sink);
    source.send('ab');
    expect(sink.events).toEqual(['ab']);
    source.end();
    expect(sink.events).toEqual(['ab', 'end']);
  });

  test('sends a finished body again', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source);
    body.attempt().pipe(new NotingSink());
    source.send('ab', 'cd');
    source.end();
    const again = new NotingSink();
    body.attempt().pipe(again);
    expect(again.events).toEqual(['ab', 'cd', 'end']);
    expect(source.calls).toEqual(['pipe']);
  });

  test('continues a body that the first attempt left in the middle', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source);
    const first = body.attempt();
    const lost = new NotingSink();
    first.pipe(lost);
    source.send('ab');
    first.cancel();
    expect(source.calls).toEqual(['pipe', 'pause']);
    source.send('cd');
    expect(body.canReplay).toBe(true);
    const sink = new NotingSink();
    body.attempt().pipe(sink);
    expect(source.calls).toEqual(['pipe', 'pause', 'resume']);
    source.send('ef');
    source.end();
    expect(sink.events).toEqual(['ab', 'cd', 'ef', 'end']);
    expect(lost.events).toEqual(['ab']);
    first.resume();
    first.cancel();
    expect(source.calls).toEqual(['pipe', 'pause', 'resume']);
  });

  test('replays under back-pressure', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source);
    const first = body.attempt();
    first.pipe(new NotingSink());
    source.send('ab', 'cd');
    first.cancel();
    const second = body.attempt();
    const sink = new NotingSink(second);
    second.pipe(sink);
    expect(sink.events).toEqual(['ab']);
    second.resume();
    second.resume();
    expect(sink.events).toEqual(['ab', 'cd']);
  });

  test('cannot replay beyond the limit, but still streams', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source, 3);
    const sink = new NotingSink();
    const attempt = body.attempt();
    attempt.pipe(sink);
    source.send('ab');
    expect(body.canReplay).toBe(true);
    source.send('cd');
    expect(body.canReplay).toBe(false);
    source.end();
    expect(sink.events).toEqual(['ab', 'cd', 'end']);
  });

  test('knows at once that a body of known length is too long', () => {
    const source = new ManualBody();
    source.length = 100;
    expect(new ReplayableBody(source, 99).canReplay).toBe(false);
  });

  test('does not replay a body that its client cut', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source);
    const sink = new NotingSink();
    body.attempt().pipe(sink);
    source.send('ab');
    source.fail('reset');
    expect(sink.events).toEqual(['ab', 'error reset']);
    expect(body.canReplay).toBe(false);
  });

  test('lets go of the source when no attempt will follow', () => {
    const source = new ManualBody();
    const body = new ReplayableBody(source);
    const attempt = body.attempt();
    attempt.pipe(new NotingSink());
    attempt.cancel();
    body.seal();
    expect(source.calls).toEqual(['pipe', 'pause', 'cancel']);

    const other = new ManualBody();
    const sealed = new ReplayableBody(other);
    const last = sealed.attempt();
    sealed.seal();
    last.pipe(new NotingSink());
    last.cancel();
    expect(other.calls).toEqual(['pipe', 'cancel']);
  });

  test('sends no body again and again', () => {
    const body = new ReplayableBody(emptyBody);
    for (const _attempt of [1, 2]) {
      const sink = new NotingSink();
      body.attempt().pipe(sink);
      expect(sink.events).toEqual(['end']);
    }
  });
});
