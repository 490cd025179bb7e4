import protobuf from 'protobufjs';

/**
 * The part of OTLP that tests read, as definitions of their own: nothing here is shared with what writes the messages.
 * `encode.test.ts` compares them with what another implementation writes.
 */
const { root } = protobuf.parse(
  `
  syntax = "proto3";
  package otlp;

  message AnyValue {
    oneof value {
      string string_value = 1;
      bool bool_value = 2;
      int64 int_value = 3;
      double double_value = 4;
      ArrayValue array_value = 5;
      KeyValueList kvlist_value = 6;
      bytes bytes_value = 7;
    }
  }
  message ArrayValue { repeated AnyValue values = 1; }
  message KeyValueList { repeated KeyValue values = 1; }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message Scope { string name = 1; string version = 2; }

  message Status { string message = 2; uint32 code = 3; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    string trace_state = 3;
    bytes parent_span_id = 4;
    string name = 5;
    uint32 kind = 6;
    fixed64 start_time_unix_nano = 7;
    fixed64 end_time_unix_nano = 8;
    repeated KeyValue attributes = 9;
    Status status = 15;
    fixed32 flags = 16;
  }
  message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message TraceRequest { repeated ResourceSpans resource_spans = 1; }

  message LogRecord {
    fixed64 time_unix_nano = 1;
    uint32 severity_number = 2;
    string severity_text = 3;
    AnyValue body = 5;
    repeated KeyValue attributes = 6;
    fixed32 flags = 8;
    bytes trace_id = 9;
    bytes span_id = 10;
    fixed64 observed_time_unix_nano = 11;
  }
  message ScopeLogs { Scope scope = 1; repeated LogRecord log_records = 2; }
  message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
  message LogsRequest { repeated ResourceLogs resource_logs = 1; }

  message PartialSuccess { int64 rejected = 1; string error_message = 2; }
  message Response { PartialSuccess partial_success = 1; }
`,
  { keepCase: false },
);

export const TraceRequest = root.lookupType('otlp.TraceRequest');
export const LogsRequest = root.lookupType('otlp.LogsRequest');
export const Response = root.lookupType('otlp.Response');

/** A decoded message; `any` in its fields would spread through the tests, so they are read by name. */
export type Decoded = Record<string, unknown>;

export function decode(type: protobuf.Type, bytes: Uint8Array): Decoded {
  return type.toObject(type.decode(bytes), { longs: String, bytes: String, defaults: false });
}

export interface SeenSpan {
  readonly resource: Decoded;
  readonly scope: Decoded;
  /** Hex; empty for no parent. */
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
  readonly attributes: Decoded;
  readonly status: Decoded | undefined;
  readonly flags: number;
  readonly traceState: string;
}

export function spansOf(request: Uint8Array): SeenSpan[] {
  const list: SeenSpan[] = [];
  for (const resourceSpans of listOf(decode(TraceRequest, request)['resourceSpans'])) {
    const resource = attributesOf(objectOf(resourceSpans['resource'])['attributes']);
    for (const scopeSpans of listOf(resourceSpans['scopeSpans'])) {
      for (const span of listOf(scopeSpans['spans'])) {
        list.push({
          resource,
          scope: objectOf(scopeSpans['scope']),
          traceId: hexOf(span['traceId']),
          spanId: hexOf(span['spanId']),
          parentSpanId: hexOf(span['parentSpanId']),
          name: String(span['name'] ?? ''),
          kind: Number(span['kind']),
          startNanos: BigInt(String(span['startTimeUnixNano'])),
          endNanos: BigInt(String(span['endTimeUnixNano'])),
          attributes: attributesOf(span['attributes']),
          status: span['status'] === undefined ? undefined : objectOf(span['status']),
          flags: Number(span['flags'] ?? 0),
          traceState: String(span['traceState'] ?? ''),
        });
      }
    }
  }
  return list;
}

export interface SeenRecord {
  readonly resource: Decoded;
  readonly scope: Decoded;
  readonly body: unknown;
  readonly severity: string;
  readonly severityNumber: number;
  readonly timeNanos: bigint;
  readonly attributes: Decoded;
  readonly traceId: string;
  readonly spanId: string;
}

export function recordsOf(request: Uint8Array): SeenRecord[] {
  const list: SeenRecord[] = [];
  for (const resourceLogs of listOf(decode(LogsRequest, request)['resourceLogs'])) {
    const resource = attributesOf(objectOf(resourceLogs['resource'])['attributes']);
    for (const scopeLogs of listOf(resourceLogs['scopeLogs'])) {
      for (const record of listOf(scopeLogs['logRecords'])) {
        list.push({
          resource,
          scope: objectOf(scopeLogs['scope']),
          body: valueOf(record['body']),
          severity: String(record['severityText']),
          severityNumber: Number(record['severityNumber']),
          timeNanos: BigInt(String(record['timeUnixNano'])),
          attributes: attributesOf(record['attributes']),
          traceId: hexOf(record['traceId']),
          spanId: hexOf(record['spanId']),
        });
      }
    }
  }
  return list;
}

export function attributesOf(list: unknown): Decoded {
  return Object.fromEntries(listOf(list).map(({ key, value }) => [String(key), valueOf(value)]));
}

function valueOf(value: unknown): unknown {
  const fields = objectOf(value);
  if ('arrayValue' in fields) return listOf(objectOf(fields['arrayValue'])['values']).map(valueOf);
  if ('kvlistValue' in fields) return attributesOf(objectOf(fields['kvlistValue'])['values']);
  if ('intValue' in fields) return Number(fields['intValue']);
  return fields['stringValue'] ?? fields['boolValue'] ?? fields['doubleValue'] ?? null;
}

function hexOf(base64: unknown): string {
  return Buffer.from(String(base64 ?? ''), 'base64').toString('hex');
}

// `as`: plain objects that protobufjs made.
function objectOf(value: unknown): Decoded {
  return (value ?? {}) as Decoded;
}

function listOf(value: unknown): Decoded[] {
  return (value ?? []) as Decoded[];
}
