import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../proxy/exchange/body.ts';
import { collect } from '../../../proxy/exchange/collect.ts';
import { type Peeked, peekBody } from '../../../proxy/exchange/peek.ts';
import { ManualBody } from './build.ts';

const never = new AbortController().signal;

async function seen(peeked: Peeked | Promise<Peeked>) {
  const result = await peeked;
  if (result.kind !== 'seen') throw result.error;
  return { text: Buffer.from(result.bytes).toString(), whole: result.whole, body: result.body };
}

async function rest(body: Parameters<typeof collect>[0]): Promise<string> {
  const collected = await collect(body, 1000);
  return collected.kind === 'whole' ? Buffer.from(collected.body.bytes).toString() : collected.kind;
}

describe('a peek at a body', () => {
  test('costs no wait when there is none, or when it is in memory', async () => {
    const none = peekBody(emptyBody, 8, never);
    expect(none).not.toBeInstanceOf(Promise);
    expect((await seen(none)).text).toBe('');
    const held = await seen(peekBody(new BufferedBody(Buffer.from('hello')), 4, never));
    expect(held).toMatchObject({ text: 'hell', whole: false });
    expect(await rest(held.body)).toBe('hello');
  });

  test('sees a whole body in drips, and the body still gives all of it', async () => {
    const body = new ManualBody();
    const peeking = peekBody(body, 5, never);
    body.send('he');
    body.send('llo');
    body.end();
    const peeked = await seen(peeking);
    expect(peeked).toMatchObject({ text: 'hello', whole: true });
    expect(await rest(peeked.body)).toBe('hello');
  });

  test('stops at the limit with the source paused, and lets it flow on when somebody takes the body', async () => {
    const body = new ManualBody();
    const peeking = peekBody(body, 4, never);
    body.send('hello');
    const peeked = await seen(peeking);
    expect(peeked).toMatchObject({ text: 'hell', whole: false });
    expect(body.paused).toBe(true);
    const reading = rest(peeked.body);
    expect(body.paused).toBe(false);
    body.send(' world');
    body.end();
    expect(await reading).toBe('hello world');
  });

  test('does not wait for a byte beyond the limit that the length has announced', async () => {
    const body = new ManualBody();
    body.length = 10;
    const peeking = peekBody(body, 4, never);
    body.send('hell');
    expect(await seen(peeking)).toMatchObject({ text: 'hell', whole: false });
  });

  test('ends with the reason when the body is cut, and when it is given up', async () => {
    const cut = new ManualBody();
    const peeking = peekBody(cut, 4, never);
    cut.fail('reset');
    expect(await peeking).toMatchObject({ kind: 'failed', error: { message: 'reset' } });
    const slow = new ManualBody();
    const abort = new AbortController();
    const waiting = peekBody(slow, 4, abort.signal);
    abort.abort(new Error('too late'));
    expect(await waiting).toMatchObject({ kind: 'failed', error: { message: 'too late' } });
    expect(slow.calls).toContain('cancel');
  });
});
