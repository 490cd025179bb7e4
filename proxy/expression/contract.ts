import type { Attributes, JsonValue } from '../exchange/attributes.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import type { HttpRequest, HttpResponse } from '../exchange/message.ts';
import type { Progress } from '../exchange/progress.ts';
import type { Recorder } from '../telemetry/recorder.ts';

/**
 * What an expression can see. An `Exchange` is one; a connection without requests is one whose request is null. What is
 * null is null in expressions too, and reading a field of it fails.
 */
export interface EvalContext {
  readonly connection: ConnectionFacts;
  /** As policies have left it so far; after the upstream call, as it was sent. */
  readonly request: HttpRequest | null;
  readonly response: HttpResponse | null;
  readonly attributes: Attributes;
  /** What the engine knows by now: listener, route, backend, durations. */
  readonly progress: Progress | null;
  readonly trace: Recorder | null;
  /** `performance.now()` at the arrival of the request. */
  readonly startedAt?: number | undefined;
}

/** Parts of calls of language models that are collected only when something reads them. */
export interface LlmContents {
  readonly prompt: boolean;
  readonly completion: boolean;
  readonly toolCalls: boolean;
}

/** What has to be collected before an expression can be evaluated. */
export interface Reads {
  readonly requestBody: boolean;
  readonly responseBody: boolean;
  readonly llm: LlmContents;
  /** Names of the variables mentioned (`jwt`, `request`, …); every one for `variables()`. */
  readonly variables: ReadonlySet<string>;
}

/** Compiles expressions; made once per engine. */
export interface Expressions {
  /**
   * `where` names the place for traces (`authorization allow[0]`). The `response` of an expression about the answer of a
   * service is whole already: it keeps nobody waiting for the client's. Throws a `GwError` with line and column.
   */
  compile(source: string, where: string, about?: 'exchange' | 'serviceAnswer'): Expression;
}

/**
 * A compiled expression, with one method for each kind of place that uses its value. None throws: what fails, or has the
 * wrong type, gives the value named here, and a watched request tells the trace why.
 */
export interface Expression {
  readonly source: string;
  readonly reads: Reads;
  /** A condition or rule: anything but true is false. */
  isTrue(context: EvalContext): boolean;
  /** A header value: a string or bytes, no control characters; else null. */
  headerText(context: EvalContext): string | null;
  /** A string; else null. */
  text(context: EvalContext): string | null;
  /** string, bool, int, uint or bytes (base64) as text; else null. Descriptors of rate limits, cache keys. */
  scalarText(context: EvalContext): string | null;
  /** A whole number that a JavaScript number can hold exactly (int, uint or integral double); else null. */
  integer(context: EvalContext): number | null;
  /** int, uint or double; else null. */
  number(context: EvalContext): number | null;
  /** Milliseconds: a duration, or a number of milliseconds; else null. */
  durationMs(context: EvalContext): number | null;
  /** A body: string and bytes raw, anything else JSON; null on failure. */
  body(context: EvalContext): Uint8Array | null;
  /** As JSON (bytes base64, timestamps and durations as text); undefined on failure. */
  json(context: EvalContext): JsonValue | undefined;
  /** The value as expressions know it, for `attributes.metadata`; undefined on failure. */
  value(context: EvalContext): unknown;
  /** true/false, or a probability 0..1 that is drawn with `random`; failure is false. */
  sampled(context: EvalContext, random: () => number): boolean;
}
