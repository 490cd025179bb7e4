import { describe, expect, test } from '@jest/globals';
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import fc from 'fast-check';

import {
  BatchFrame,
  decodeExportResponse,
  encodeLogRecord,
  encodeSpan,
} from '../../../../proxy/telemetry/otlp/encode.ts';
import type { LogRecord, Span } from '../../../../proxy/telemetry/spans/span.ts';
import { decode, LogsRequest, recordsOf, Response, spansOf, TraceRequest } from './protocol.ts';

const frame = new BatchFrame({
  resource: [['service.name', 'shop']],
  scope: { name: 'tracer', version: '1.2.3' },
});

const span: Span = {
  context: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736', spanId: '00f067aa0ba902b7', flags: 1 },
  parentSpanId: '1111111111111111',
  remoteParent: true,
  traceState: 'a=b',
  name: 'GET /cart',
  kind: 'server',
  startMs: 1_700_000_000_123.456,
  endMs: 1_700_000_000_125,
  attributes: [
    ['text', 'grün'],
    ['int', -7],
    ['large', 2 ** 50],
    ['double', 0.5],
    ['yes', true],
    ['list', ['a', 1, false]],
    ['map', { k: 'v', inner: { n: 1 } }],
    ['empty', ''],
  ],
  error: 'it broke',
};

const record: LogRecord = {
  timeMs: 1_700_000_000_125,
  body: 'request',
  attributes: [['http.status', 200]],
  context: span.context,
};

describe('a batch of spans', () => {
  test('is read by the public definitions as what it was', () => {
    const [seen, other] = spansOf(
      frame.wrap([encodeSpan(span), encodeSpan({ ...span, parentSpanId: null, remoteParent: false, error: null })]),
    );
    expect(seen).toEqual({
      resource: { 'service.name': 'shop' },
      scope: { name: 'tracer', version: '1.2.3' },
      traceId: span.context.traceId,
      spanId: span.context.spanId,
      parentSpanId: span.parentSpanId,
      name: span.name,
      kind: 2,
      startNanos: 1_700_000_000_123_456_000n,
      endNanos: 1_700_000_000_125_000_000n,
      attributes: Object.fromEntries(span.attributes),
      status: { message: 'it broke', code: 2 },
      flags: 0x301,
      traceState: 'a=b',
    });
    expect([other?.parentSpanId, other?.status, other?.flags]).toEqual(['', undefined, 1]);
  });

  test('is what another implementation writes for the same span', () => {
    const { traceId, spanId } = span.context;
    const theirs = ProtobufTraceSerializer.serializeRequest([
      {
        name: span.name,
        kind: 1,
        spanContext: () => ({ traceId, spanId, traceFlags: 1, traceState: { serialize: () => 'a=b' } }),
        parentSpanContext: { traceId, spanId: '1111111111111111', traceFlags: 1, isRemote: true },
        startTime: [1_700_000_000, 123_456_000],
        endTime: [1_700_000_000, 125_000_000],
        status: { code: 2, message: 'it broke' },
        attributes: Object.fromEntries(span.attributes),
        links: [],
        events: [],
        resource: { attributes: { 'service.name': 'shop' } },
        instrumentationScope: { name: 'tracer', version: '1.2.3' },
        droppedAttributesCount: 0,
        droppedEventsCount: 0,
        droppedLinksCount: 0,
        // `as`: the parts of a span of that library that its serializer reads.
      } as never,
    ]);
    const ours = frame.wrap([encodeSpan(span)]);
    expect(decode(TraceRequest, ours)).toEqual(decode(TraceRequest, theirs ?? new Uint8Array()));
  });

  test('holds whatever text and number there is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.jsonValue(), (text, value) => {
        // `as`: fast-check's JSON is what `JsonValue` describes.
        const attributes = [[`k${text}`, value as never]] as const;
        const [seen] = spansOf(frame.wrap([encodeSpan({ ...span, name: text, attributes })]));
        expect(seen?.name).toBe(text.toWellFormed());
      }),
    );
  });

  test('writes what is nested too deep as JSON', () => {
    let deep: unknown = 'bottom';
    for (let i = 0; i < 100; i++) deep = [deep];
    const [seen] = spansOf(frame.wrap([encodeSpan({ ...span, attributes: [['deep', deep as never]] })]));
    expect(JSON.stringify(seen?.attributes['deep'])).toContain('bottom');
  });

  test('never lets a span end before it began', () => {
    const [seen] = spansOf(frame.wrap([encodeSpan({ ...span, endMs: 0 })]));
    expect(seen?.endNanos).toBe(seen?.startNanos);
  });
});

describe('a batch of log records', () => {
  test('is read by the public definitions as what it was', () => {
    const [seen] = recordsOf(frame.wrap([encodeLogRecord(record)]));
    expect(seen).toEqual({
      resource: { 'service.name': 'shop' },
      scope: { name: 'tracer', version: '1.2.3' },
      body: 'request',
      severity: 'INFO',
      severityNumber: 9,
      timeNanos: 1_700_000_000_125_000_000n,
      attributes: { 'http.status': 200 },
      traceId: span.context.traceId,
      spanId: span.context.spanId,
    });
  });

  test('is what another implementation writes for the same record', () => {
    const time: [number, number] = [1_700_000_000, 125_000_000];
    const { traceId, spanId } = span.context;
    const theirs = ProtobufLogsSerializer.serializeRequest([
      {
        hrTime: time,
        hrTimeObserved: time,
        severityNumber: 9,
        severityText: 'INFO',
        body: 'request',
        attributes: { 'http.status': 200 },
        spanContext: { traceId, spanId, traceFlags: 1 },
        resource: { attributes: { 'service.name': 'shop' } },
        instrumentationScope: { name: 'tracer', version: '1.2.3' },
        droppedAttributesCount: 0,
        // `as`: the parts of a record of that library that its serializer reads.
      } as never,
    ]);
    expect(decode(LogsRequest, frame.wrap([encodeLogRecord(record)]))).toEqual(
      decode(LogsRequest, theirs ?? new Uint8Array()),
    );
  });

  test('needs no trace', () => {
    const [seen] = recordsOf(frame.wrap([encodeLogRecord({ ...record, context: null })]));
    expect([seen?.traceId, seen?.spanId]).toEqual(['', '']);
  });
});

/** 0 for what cannot be read. */
function rejectedIn(bytes: Uint8Array): number {
  try {
    return decodeExportResponse(bytes).rejected;
  } catch (error) {
    return error instanceof Error ? 0 : -1;
  }
}

describe('the answer of a receiver', () => {
  test('tells how much it did not want', () => {
    const bytes = Response.encode({ partialSuccess: { rejected: 3, errorMessage: 'too old' } }).finish();
    expect(decodeExportResponse(bytes)).toEqual({ rejected: 3, message: 'too old' });
    expect(decodeExportResponse(new Uint8Array())).toEqual({ rejected: 0, message: '' });
  });

  test('is read or refused, never more', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        expect(rejectedIn(bytes)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
