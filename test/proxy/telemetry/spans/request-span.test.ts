import { describe, expect, test } from '@jest/globals';

import { RequestSpan } from '../../../../proxy/telemetry/spans/request-span.ts';
import type { Span } from '../../../../proxy/telemetry/spans/span.ts';
import { parseTraceparent, SpanIds } from '../../../../proxy/telemetry/spans/trace-context.ts';

const ids = new SpanIds();
const parent = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), flags: 1 };
const server = { name: 'GET /', startedAt: 0, endedAt: 1, attributes: [], error: null };

describe('the span of a request', () => {
  test('goes on with the trace of the client', () => {
    const span = new RequestSpan({ parent, traceState: 'v=1', ids });
    expect(span.context).toMatchObject({ traceId: parent.traceId, flags: 1 });
    expect(span.context.spanId).not.toBe(parent.spanId);
    const spans: Span[] = [];
    span.finish(server, (each) => spans.push(each));
    expect(spans[0]).toMatchObject({ parentSpanId: parent.spanId, remoteParent: true, traceState: 'v=1' });
  });

  test('begins a trace that is sampled', () => {
    const span = new RequestSpan({ parent: null, traceState: '', ids });
    expect([span.context.flags, span.recorded]).toEqual([1, true]);
  });

  test('is not recorded when the client said so', () => {
    expect(new RequestSpan({ parent: { ...parent, flags: 0 }, traceState: '', ids }).recorded).toBe(false);
  });

  test('hands out spans of calls, which come after it, those that end later too', () => {
    const span = new RequestSpan({ parent, traceState: '', ids });
    const first = span.start('Primary', 'Http');
    const late = span.start('Mirror', 'Http');
    first?.end({ name: 'GET backend', error: '503', attributes: [['http.status', 503]] });
    const spans: Span[] = [];
    span.finish(server, (each) => spans.push(each));
    late?.end({ name: 'GET mirror', error: null });
    expect(spans.map(({ name }) => name)).toEqual(['GET /', 'GET backend', 'GET mirror']);
    expect(spans[1]).toMatchObject({
      parentSpanId: span.context.spanId,
      remoteParent: false,
      kind: 'client',
      error: '503',
      attributes: [
        ['gw.outbound.kind', 'primary'],
        ['gw.outbound.subtype', 'http'],
        ['http.status', 503],
        ['error.type', '503'],
      ],
    });
    expect(parseTraceparent(first?.traceparent ?? '')).toEqual(spans[1]?.context);
  });

  test('takes the spans of its calls with it when it is dropped', () => {
    const span = new RequestSpan({ parent, traceState: '', ids });
    const call = span.start('Primary', 'Http');
    span.drop();
    expect(() => call?.end({ name: 'x', error: null })).not.toThrow();
  });

  test('has 128 calls at most', () => {
    const span = new RequestSpan({ parent, traceState: '', ids });
    const started = Array.from({ length: 200 }, () => span.start('Policy', 'ExtAuthz'));
    expect(started.filter((call) => call !== null)).toHaveLength(128);
  });
});
