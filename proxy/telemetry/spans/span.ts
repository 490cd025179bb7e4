import type { JsonValue } from '../../exchange/attributes.ts';
import type { TraceContext } from './trace-context.ts';

export type Attribute = readonly [key: string, value: JsonValue];

/** A finished span, ready to be written. */
export interface Span {
  readonly context: TraceContext;
  /** Span id of the parent; null at the root of a trace. */
  readonly parentSpanId: string | null;
  /** The parent is another process's span. */
  readonly remoteParent: boolean;
  /** The client's `tracestate`, empty when there is none. */
  readonly traceState: string;
  readonly name: string;
  readonly kind: 'server' | 'client';
  /** Wall clock, milliseconds since 1970. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: readonly Attribute[];
  /** What went wrong; null when nothing did. */
  readonly error: string | null;
}

/** One record of an exported log. */
export interface LogRecord {
  /** Wall clock, milliseconds since 1970. */
  readonly timeMs: number;
  readonly body: string;
  readonly attributes: readonly Attribute[];
  readonly context: TraceContext | null;
}
