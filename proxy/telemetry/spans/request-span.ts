import { wallClockMs } from '../../../src/shared/log.ts';
import type { CallKind, CallSubtype } from '../thread-metrics.ts';
import type { Attribute, Span } from './span.ts';
import { formatTraceparent, SAMPLED, type SpanIds, type TraceContext } from './trace-context.ts';

/** Beyond this many calls of one request, further ones have no span of their own. */
const MAX_CHILDREN = 128;

/** Hands out spans for calls that the gateway makes on a request's behalf. */
export interface CallSpans {
  /** Begins a span; null when the request has had its share. */
  start(kind: CallKind, subtype: CallSubtype): CallSpan | null;
}

/** One call on its way. */
export interface CallSpan {
  /** What the callee gets as `traceparent`. */
  readonly traceparent: string;
  /** Called once. `error` is a short kind of failure, null when the call succeeded. */
  end(result: { name: string; error: string | null; attributes?: readonly Attribute[] }): void;
}

/** What the request itself came to; times on the scale of `performance.now()`. */
export interface ServerSpan extends Pick<Span, 'name' | 'attributes' | 'error'> {
  readonly startedAt: number;
  readonly endedAt: number;
}

/**
 * The server span of one sampled request. Spans of its calls wait here until the end, when it is known whether they are
 * exported.
 */
export class RequestSpan implements CallSpans {
  readonly context: TraceContext;
  readonly parent: TraceContext | null;
  readonly traceState: string;
  readonly #ids: SpanIds;
  /** From the scale of `performance.now()` to wall clock; one for the whole request, so that its times fit together. */
  readonly #epochMs = wallClockMs() - performance.now();
  /** Null once it is decided. */
  #waiting: Span[] | null = [];
  #started = 0;
  #sink: ((span: Span) => void) | null = null;

  constructor(options: { parent: TraceContext | null; traceState: string; ids: SpanIds }) {
    const { parent, ids } = options;
    this.#ids = ids;
    this.parent = parent;
    this.traceState = options.traceState;
    this.context = {
      traceId: parent?.traceId ?? ids.traceId(),
      spanId: ids.spanId(),
      flags: parent?.flags ?? SAMPLED,
    };
  }

  /** The trace's flags say that spans are kept. */
  get recorded(): boolean {
    return (this.context.flags & SAMPLED) !== 0;
  }

  get traceparent(): string {
    return formatTraceparent(this.context);
  }

  start(kind: CallKind, subtype: CallSubtype): CallSpan | null {
    if (this.#started >= MAX_CHILDREN) return null;
    this.#started += 1;
    const startMs = this.#epochMs + performance.now();
    const context: TraceContext = { ...this.context, spanId: this.#ids.spanId() };
    const outbound: readonly Attribute[] = [
      ['gw.outbound.kind', kind.toLowerCase()],
      ['gw.outbound.subtype', SUBTYPES[subtype]],
    ];
    return {
      traceparent: formatTraceparent(context),
      end: ({ name, error, attributes = [] }) =>
        this.#ended({
          context,
          parentSpanId: this.context.spanId,
          remoteParent: false,
          traceState: this.traceState,
          name,
          kind: 'client',
          startMs,
          endMs: this.#epochMs + performance.now(),
          attributes: [...outbound, ...attributes, ...(error === null ? [] : [['error.type', error] as const])],
          error,
        }),
    };
  }

  /** The end: the server span and those of its calls go to `sink`, calls that end later too; null drops them. */
  finish(server: ServerSpan, sink: (span: Span) => void): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = null;
    this.#sink = sink;
    const { context, parent, traceState } = this;
    const { name, attributes, error } = server;
    sink({
      context,
      parentSpanId: parent?.spanId ?? null,
      remoteParent: parent !== null,
      traceState,
      name,
      kind: 'server',
      startMs: this.#epochMs + server.startedAt,
      endMs: this.#epochMs + server.endedAt,
      attributes,
      error,
    });
    for (const span of waiting) sink(span);
  }

  /** Nothing is exported. */
  drop(): void {
    this.#waiting = null;
  }

  #ended(span: Span): void {
    if (this.#waiting === null) this.#sink?.(span);
    else this.#waiting.push(span);
  }
}

/** How attributes and labels write what a call is for. */
const SUBTYPES: Readonly<Record<CallSubtype, string>> = {
  Http: 'http',
  Llm: 'llm',
  Mcp: 'mcp',
  ExtAuthz: 'ext_authz',
  ExtProc: 'ext_proc',
  Guardrail: 'guardrail',
  RateLimit: 'rate_limit',
  Oidc: 'oidc',
};
