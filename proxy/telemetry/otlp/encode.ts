import type { Reader, Writer } from 'protobufjs/minimal.js';

import { lateLibrary } from '../../../src/shared/late-library.ts';
import type { JsonValue } from '../../exchange/attributes.ts';
import type { Attribute, LogRecord, Span } from '../spans/span.ts';

/**
 * The messages of OTLP 1.x that the gateway sends, by field numbers of the public protocol definitions. Items are encoded
 * when they happen, so that what waits is bytes of a known number; a batch only puts a frame around them.
 */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const SPAN_KINDS = { server: 2, client: 3 } as const;
const STATUS_ERROR = 2;
const SEVERITY_INFO = 9;
/** Flags of a span beside those of its trace: whether it is known where the parent lives, and whether that is elsewhere. */
const PARENT_KNOWN = 0x100;
const PARENT_REMOTE = 0x200;
/** Deeper values are written as JSON text. */
const MAX_DEPTH = 16;

/** `ScopeSpans.spans`, one entry. */
export function encodeSpan(span: Span): Uint8Array {
  const writer = open(newWriter(), 2);
  bytes(writer, 1, span.context.traceId);
  bytes(writer, 2, span.context.spanId);
  text(writer, 3, span.traceState);
  if (span.parentSpanId !== null) bytes(writer, 4, span.parentSpanId);
  text(writer, 5, span.name);
  writer.uint32(tag(6, VARINT)).uint32(SPAN_KINDS[span.kind]);
  time(writer, 7, span.startMs);
  time(writer, 8, Math.max(span.startMs, span.endMs));
  attributes(writer, 9, span.attributes);
  if (span.error !== null) {
    open(writer, 15);
    text(writer, 2, span.error);
    writer.uint32(tag(3, VARINT)).uint32(STATUS_ERROR).ldelim();
  }
  const parent = span.parentSpanId === null ? 0 : PARENT_KNOWN | (span.remoteParent ? PARENT_REMOTE : 0);
  writer.uint32(tag(16, FIXED32)).fixed32(span.context.flags | parent);
  return writer.ldelim().finish();
}

/** `ScopeLogs.log_records`, one entry. */
export function encodeLogRecord(record: LogRecord): Uint8Array {
  const writer = open(newWriter(), 2);
  time(writer, 1, record.timeMs);
  writer.uint32(tag(2, VARINT)).uint32(SEVERITY_INFO);
  text(writer, 3, 'INFO');
  anyValue(open(writer, 5), record.body, 0);
  writer.ldelim();
  attributes(writer, 6, record.attributes);
  if (record.context !== null) {
    writer.uint32(tag(8, FIXED32)).fixed32(record.context.flags);
    bytes(writer, 9, record.context.traceId);
    bytes(writer, 10, record.context.spanId);
  }
  time(writer, 11, record.timeMs);
  return writer.ldelim().finish();
}

/** What the items of a batch have in common. */
export interface Origin {
  readonly resource: readonly Attribute[];
  readonly scope: { readonly name: string; readonly version: string };
}

/** Writes the frame around items: an `ExportTraceServiceRequest` or `ExportLogsServiceRequest`, which are alike. */
export class BatchFrame {
  readonly #resource: Uint8Array;
  readonly #scope: Uint8Array;

  constructor({ resource, scope }: Origin) {
    const resourceWriter = open(newWriter(), 1);
    attributes(resourceWriter, 1, resource);
    this.#resource = resourceWriter.ldelim().finish();
    const scopeWriter = open(newWriter(), 1);
    text(scopeWriter, 1, scope.name);
    text(scopeWriter, 2, scope.version);
    this.#scope = scopeWriter.ldelim().finish();
  }

  wrap(items: readonly Uint8Array[]): Uint8Array {
    const itemBytes = items.reduce((sum, item) => sum + item.byteLength, 0);
    const scopeBytes = this.#scope.byteLength + itemBytes;
    const scopeHead = head(2, scopeBytes);
    const resourceHead = head(1, this.#resource.byteLength + scopeHead.byteLength + scopeBytes);
    return Buffer.concat([resourceHead, this.#resource, scopeHead, this.#scope, ...items]);
  }
}

/** What a receiver says about a batch that it took: how many items it did not want, and why. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

/** Reads an `Export…ServiceResponse`; throws for bytes that are none. */
export function decodeExportResponse(response: Uint8Array): PartialSuccess {
  let rejected = 0;
  let message = '';
  fields(newReader(response), (reader, field, wire) => {
    if (field !== 1 || wire !== BYTES) return false;
    const inner = newReader(reader.bytes());
    fields(inner, (part, innerField, innerWire) => {
      if (innerField === 1 && innerWire === VARINT) rejected = Math.max(0, Number(part.int64()));
      else if (innerField === 2 && innerWire === BYTES) message = part.string();
      else return false;
      return true;
    });
    return true;
  });
  return { rejected, message };
}

/** Calls back for each field; one that is not read (false) is skipped. */
export function fields(reader: Reader, read: (reader: Reader, field: number, wire: number) => boolean): void {
  while (reader.pos < reader.len) {
    const key = reader.uint32();
    if (!read(reader, key >>> 3, key & 7)) reader.skipType(key & 7);
  }
}

function attributes(writer: Writer, field: number, list: readonly Attribute[]): void {
  for (const [key, value] of list) {
    keyValue(open(writer, field), key, value, 0);
    writer.ldelim();
  }
}

function keyValue(writer: Writer, key: string, value: JsonValue, depth: number): void {
  text(writer, 1, key);
  anyValue(open(writer, 2), value, depth);
  writer.ldelim();
}

/** `AnyValue`; null is a value without any of its fields. */
function anyValue(writer: Writer, value: JsonValue, depth: number): void {
  switch (typeof value) {
    case 'string':
      // Written even when empty: the field is one of several.
      writer.uint32(tag(1, BYTES)).string(value.toWellFormed());
      return;
    case 'boolean':
      writer.uint32(tag(2, VARINT)).bool(value);
      return;
    case 'number':
      if (Number.isSafeInteger(value)) writer.uint32(tag(3, VARINT)).int64(value);
      else writer.uint32(tag(4, FIXED64)).double(value);
      return;
    default:
      if (value !== null) structured(writer, value, depth);
  }
}

function structured(writer: Writer, value: Exclude<JsonValue, null | string | number | boolean>, depth: number): void {
  if (depth >= MAX_DEPTH) {
    writer.uint32(tag(1, BYTES)).string(JSON.stringify(value).toWellFormed());
    return;
  }
  const list = Array.isArray(value);
  open(writer, list ? 5 : 6);
  for (const [key, part] of Object.entries(value)) {
    open(writer, 1);
    if (list) anyValue(writer, part, depth + 1);
    else keyValue(writer, key, part, depth + 1);
    writer.ldelim();
  }
  writer.ldelim();
}

function newWriter(): Writer {
  return lateLibrary('protobufjs/minimal.js').Writer.create();
}

export function newReader(bytesRead: Uint8Array): Reader {
  return lateLibrary('protobufjs/minimal.js').Reader.create(bytesRead);
}

/** Begins a message in a field; `ldelim` ends it. */
function open(writer: Writer, field: number): Writer {
  return writer.uint32(tag(field, BYTES)).fork();
}

function text(writer: Writer, field: number, value: string): void {
  if (value !== '') writer.uint32(tag(field, BYTES)).string(value.toWellFormed());
}

function bytes(writer: Writer, field: number, hex: string): void {
  writer.uint32(tag(field, BYTES)).bytes(Buffer.from(hex, 'hex'));
}

/** Nanoseconds since 1970 in eight bytes; more than a number holds exactly, so they are made of whole microseconds. */
function time(writer: Writer, field: number, ms: number): void {
  const nanos = BigInt(Math.round(ms * 1000)) * 1000n;
  writer
    .uint32(tag(field, FIXED64))
    .fixed32(Number(nanos & 0xffffffffn))
    .fixed32(Number(nanos >> 32n));
}

function head(field: number, length: number): Uint8Array {
  return newWriter().uint32(tag(field, BYTES)).uint32(length).finish();
}

function tag(field: number, wire: number): number {
  return ((field << 3) | wire) >>> 0;
}
