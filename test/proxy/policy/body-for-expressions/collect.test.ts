import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../../proxy/exchange/body.ts';
import type { Exchange } from '../../../../proxy/exchange/exchange.ts';
import { Headers } from '../../../../proxy/exchange/headers.ts';
import type { HttpResponse } from '../../../../proxy/exchange/message.ts';
import type { Progress, RecordedBodies } from '../../../../proxy/exchange/progress.ts';
import { collectRequestBody, collectResponseBody } from '../../../../proxy/policy/body-for-expressions/collect.ts';
import { ManualBody, NotingSink, untraced } from '../../exchange/build.ts';
import { deps } from '../build.ts';

function setup(parts: Parameters<typeof untraced>[0] = {}) {
  const bodies: RecordedBodies = { request: null, requestPrefix: null, response: null, responsePrefix: null };
  const exchange: Exchange = untraced(parts);
  // `as`: expressions read nothing else of the progress here.
  exchange.progress = { bodies } as Progress;
  const own = deps();
  const options = { limitBytes: 8, deps: own };
  return { exchange, bodies, own, request: collectRequestBody(options), response: collectResponseBody(options) };
}

const text = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString());

describe('the request body for expressions', () => {
  test('is held as a whole, with its trailers', async () => {
    const body = new ManualBody();
    const { exchange, request, bodies } = setup({ body });
    const outcome = request.run(exchange);
    body.send('hel', 'lo');
    body.end(Headers.from([['x-sum', '5']]));
    expect(await outcome).toEqual({ kind: 'next' });
    const held = exchange.request.body;
    if (!(held instanceof BufferedBody)) throw new Error('not held');
    expect(text(held.bytes)).toBe('hello');
    expect(held.trailers?.get('x-sum')).toBe('5');
    expect(bodies.requestPrefix).toBeNull();
  });

  test('beyond the limit goes on as a stream, its first bytes known', async () => {
    const body = new ManualBody();
    const { exchange, request, bodies } = setup({ body });
    const outcome = request.run(exchange);
    body.send('01234', '56789');
    expect(await outcome).toEqual({ kind: 'next' });
    expect(text(bodies.requestPrefix)).toBe('01234567');
    expect(bodies.request).toBeNull();
    const sink = new NotingSink();
    exchange.request.body.pipe(sink);
    body.send('rest');
    body.end();
    expect(sink.text).toBe('0123456789rest');
  });

  test('that says it is longer is only looked at', async () => {
    const body = new ManualBody();
    body.length = 100;
    const { exchange, request, bodies } = setup({ body });
    const outcome = request.run(exchange);
    body.send('01234567');
    await outcome;
    expect(text(bodies.requestPrefix)).toBe('01234567');
    expect(body.paused).toBe(true);
  });

  test('is not read again once its beginning is known', async () => {
    const body = new ManualBody();
    const { exchange, request } = setup({ body });
    const outcome = request.run(exchange);
    body.send('0123456789');
    await outcome;
    expect(request.run(exchange)).toEqual({ kind: 'next' });
  });

  test('costs nothing when there is none, or it is in memory, or the request is an upgrade', () => {
    for (const parts of [
      { body: emptyBody },
      { body: new BufferedBody(Buffer.from('far too large')) },
      { body: new ManualBody(), upgrade: 'websocket' },
      { body: new ManualBody(), method: 'CONNECT' },
    ]) {
      const { exchange, request } = setup(parts);
      expect(request.run(exchange)).toEqual({ kind: 'next' });
    }
  });

  test('that is cut, late, or of a client that left ends the request', async () => {
    const cut = new ManualBody();
    const first = setup({ body: cut });
    const failed = first.request.run(first.exchange);
    cut.fail('reset');
    expect(await failed).toMatchObject({ kind: 'fail', refusal: { status: 400, reason: 'InvalidRequest' } });

    const second = setup({ body: new ManualBody() });
    second.exchange.deadlineAt = second.own.clock.now() + 100;
    const late = second.request.run(second.exchange);
    second.own.clock.advance(100);
    expect(await late).toMatchObject({ kind: 'fail', refusal: { status: 504, message: 'request timeout' } });
    expect(second.own.clock.pending).toBe(0);

    const body = new ManualBody();
    const third = setup({ body });
    const gone = third.request.run(third.exchange);
    third.exchange.clientLeft();
    expect(await gone).toMatchObject({ kind: 'fail', refusal: { status: 499 } });
    expect(body.calls).toContain('cancel');
  });
});

describe('the response body for expressions', () => {
  function respond(body: HttpResponse['body'], status = 200): HttpResponse {
    return { status, headers: new Headers(), body };
  }

  test('is held as a whole, or known by its first bytes', async () => {
    const { exchange, response: step, bodies } = setup();
    const whole = new ManualBody();
    const response = respond(whole);
    const done = step.run(exchange, response);
    whole.send('hello');
    whole.end();
    expect(await done).toBeNull();
    expect(response.body).toBeInstanceOf(BufferedBody);
    const long = new ManualBody();
    const other = respond(long);
    const looked = step.run(exchange, other);
    long.send('0123456789');
    expect(await looked).toBeNull();
    expect(text(bodies.responsePrefix)).toBe('01234567');
  });

  test('that is cut becomes 502; of a switch of protocols nothing is read', async () => {
    const { exchange, response: step } = setup();
    const body = new ManualBody();
    const done = step.run(exchange, respond(body));
    body.fail('reset');
    expect(await done).toMatchObject({ status: 502, reason: 'UpstreamFailure' });
    expect(step.run(exchange, respond(new ManualBody(), 101))).toBeNull();
  });
});
