import { describe, expect, test } from '@jest/globals';

import { BufferedBody, emptyBody } from '../../../proxy/exchange/body.ts';
import { Headers } from '../../../proxy/exchange/headers.ts';
import { bufferRequest, bufferResponse } from '../../../proxy/policy/buffer/compile.ts';
import type { BufferLimit } from '../../../src/config/ir/index.ts';
import { ManualBody, NotingSink, traced, untraced } from '../exchange/build.ts';
import { context, deps } from './build.ts';

const closed: BufferLimit = { maxBytes: 4, failureMode: 'failClosed' };
const open: BufferLimit = { maxBytes: 4, failureMode: 'failOpen' };

describe('bufferRequest', () => {
  test('goes on with the whole body', async () => {
    const body = new ManualBody();
    const { exchange, policies } = traced({ body });
    const waiting = bufferRequest(closed, context())(exchange);
    body.send('ab', 'cd');
    body.end();
    expect(await waiting).toEqual({ kind: 'next' });
    expect(exchange.request.body).toBeInstanceOf(BufferedBody);
    expect(policies).toEqual(['buffer: request: 4 bytes (from route default/r1)']);
  });

  test('refuses what is too large with an empty 413, and stops reading', async () => {
    const body = new ManualBody();
    const { exchange, policies } = traced({ body });
    const waiting = bufferRequest(closed, context())(exchange);
    body.send('abcde');
    expect(await waiting).toMatchObject({ kind: 'fail', refusal: { status: 413, bodyless: true } });
    expect(body.calls).toEqual(['pipe', 'pause', 'cancel']);
    expect(policies).toEqual(['buffer: request: over the limit, refused (from route default/r1)']);
  });

  test('refuses by the length alone when it is known', async () => {
    const body = new ManualBody();
    body.length = 5;
    expect(await bufferRequest(closed, context())(untraced({ body }))).toMatchObject({ refusal: { status: 413 } });
    expect(body.calls).toEqual(['cancel']);
  });

  test('streams on what is too large when it fails open', async () => {
    const body = new ManualBody();
    const exchange = untraced({ body });
    const waiting = bufferRequest(open, context())(exchange);
    body.send('abcde');
    expect(await waiting).toEqual({ kind: 'next' });
    const sink = new NotingSink();
    exchange.request.body.pipe(sink);
    body.send('fg');
    body.end();
    expect(sink.events).toEqual(['abcde', 'fg', 'end']);
  });

  test('takes the limit of the listeners when it has none of its own', async () => {
    const body = new ManualBody();
    const waiting = bufferRequest({ failureMode: 'failClosed' }, context())(untraced({ body }));
    body.send('123456789');
    expect(await waiting).toMatchObject({ refusal: { status: 413 } });
  });

  test('answers 504 when the body is slower than the deadline', async () => {
    const own = deps();
    const body = new ManualBody();
    const exchange = untraced({ body });
    exchange.deadlineAt = own.clock.now() + 1000;
    const waiting = bufferRequest(closed, context(own))(exchange);
    body.send('a');
    own.clock.advance(1000);
    expect(await waiting).toMatchObject({ kind: 'fail', refusal: { status: 504, message: 'request timeout' } });
    expect(body.calls).toEqual(['pipe', 'cancel']);
  });

  test('leaves no timer and no listener behind', async () => {
    const own = deps();
    const body = new ManualBody();
    const exchange = untraced({ body });
    exchange.deadlineAt = own.clock.now() + 1000;
    const waiting = bufferRequest(closed, context(own))(exchange);
    body.end();
    await waiting;
    expect(own.clock.pending).toBe(0);
    exchange.clientLeft();
    expect(body.calls).toEqual(['pipe']);
  });

  test('tells a cut body from a client that left', async () => {
    const cut = new ManualBody();
    const failing = bufferRequest(closed, context())(untraced({ body: cut }));
    cut.fail('bad chunk');
    expect(await failing).toMatchObject({ refusal: { status: 400, message: 'request body was cut: bad chunk' } });

    const exchange = untraced({ body: new ManualBody() });
    const leaving = bufferRequest(closed, context())(exchange);
    exchange.clientLeft();
    expect(await leaving).toMatchObject({ refusal: { message: 'client went away' } });
  });

  test('does not wait for requests without a body, nor for upgrades', () => {
    expect(bufferRequest(closed, context())(untraced({ body: emptyBody }))).toEqual({ kind: 'next' });
    const { exchange, policies } = traced({ body: new ManualBody(), upgrade: 'websocket' });
    expect(bufferRequest(closed, context())(exchange)).toEqual({ kind: 'next' });
    expect(policies).toEqual(['buffer: an upgrade has no body to buffer']);
  });
});

describe('bufferResponse', () => {
  const responseWith = (body: ManualBody, status = 200) => ({ status, headers: new Headers(), body });

  test('goes on with the whole body', async () => {
    const body = new ManualBody();
    const response: { status: number; headers: Headers; body: unknown } = responseWith(body);
    const waiting = bufferResponse(closed, context())(untraced(), response as ReturnType<typeof responseWith>);
    body.send('abcd');
    body.end();
    expect(await waiting).toBeNull();
    expect(response.body).toMatchObject({ length: 4 });
  });

  test('is replaced by an empty 502 when it is too large', async () => {
    const body = new ManualBody();
    const waiting = bufferResponse(closed, context())(untraced(), responseWith(body));
    body.send('abcde');
    expect(await waiting).toMatchObject({ status: 502, bodyless: true });
    expect(body.calls).toContain('cancel');
  });

  test('streams on when it fails open', async () => {
    const body = new ManualBody();
    const response = responseWith(body);
    const waiting = bufferResponse(open, context())(untraced(), response);
    body.send('abcde');
    expect(await waiting).toBeNull();
    const sink = new NotingSink();
    response.body.pipe(sink);
    expect(sink.text).toBe('abcde');
  });

  test('is a 502 when the upstream cuts it, and given up when the client leaves', async () => {
    const body = new ManualBody();
    const waiting = bufferResponse(closed, context())(untraced(), responseWith(body));
    body.fail('reset');
    expect(await waiting).toMatchObject({ status: 502, message: 'response body was cut: reset' });

    const exchange = untraced();
    const left = new ManualBody();
    const leaving = bufferResponse(closed, context())(exchange, responseWith(left));
    exchange.clientLeft();
    expect(await leaving).toMatchObject({ message: 'client went away' });
    expect(left.calls).toEqual(['pipe', 'cancel']);
  });

  test('lets 101 pass', () => {
    expect(bufferResponse(closed, context())(untraced(), responseWith(new ManualBody(), 101))).toBeNull();
  });
});
