import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { formatDuration } from '../../src/shared/duration.ts';

/** Microseconds as Go prints a duration: `361µs`, `1.2ms`, `3.34s`. */
export function formatMicros(us: number): string {
  if (us >= 100_000) return formatDuration(Math.round(us / 1000));
  if (us >= 1000) return formatDuration(Math.round(us / 10) / 100);
  return formatDuration(us / 1000);
}

/** How long a timed event took, in microseconds; undefined for an instant. */
export function durationUs(event: TraceEvent): number | undefined {
  return event.eventStart === null ? undefined : Math.max(0, event.eventEnd - event.eventStart);
}

/** When the event began, in microseconds since the trace began. */
export function startUs(event: TraceEvent): number {
  return event.eventStart ?? event.eventEnd;
}

/** What a bar needs: cells from `from` (inclusive) to `to` (exclusive), or one tick for an instant. */
export interface BarSpan {
  readonly kind: 'bar' | 'tick';
  readonly from: number;
  readonly to: number;
}

/** Where an event lies on an axis of `totalUs` that is `cells` wide. A timed event takes at least one cell. */
export function spanOf(event: TraceEvent, totalUs: number, cells: number): BarSpan {
  const scale = (us: number): number => (totalUs <= 0 ? 0 : (us / totalUs) * cells);
  const last = Math.max(0, cells - 1);
  const from = clamp(Math.floor(scale(startUs(event))), 0, last);
  if (event.eventStart === null) return { kind: 'tick', from, to: from + 1 };
  return { kind: 'bar', from, to: clamp(Math.ceil(scale(event.eventEnd)), from + 1, cells) };
}

/** The step of a request that took longest: a timed event, or the silence before an event. */
export interface SlowestStep {
  readonly kind: 'step' | 'gap';
  /** Index of the timed event, or of the event that ended the silence. */
  readonly index: number;
  readonly us: number;
}

/** Follows a request event by event and knows its slowest step at any time. */
export interface StepWatch {
  readonly slowest: SlowestStep | undefined;
  /** The time up to which something is known to have happened. */
  readonly coveredUs: number;
}

export const noSteps: StepWatch = { slowest: undefined, coveredUs: 0 };

/** The watch after one more event, which has the index `index` in the caller's list. */
export function watchStep(watch: StepWatch, event: TraceEvent, index: number): StepWatch {
  // What the client gets takes as long as all of its calls: it is them that took long.
  const took = event.message.type === 'mcpResponse' ? undefined : durationUs(event);
  const gap = startUs(event) - watch.coveredUs;
  let slowest = watch.slowest;
  /* What a server does between two instants belongs to nobody; name it only when it is clearly the longest. */
  if (gap > (slowest?.us ?? 0)) slowest = { kind: 'gap', index, us: gap };
  if (took !== undefined && took > 0 && took >= (slowest?.us ?? 0)) slowest = { kind: 'step', index, us: took };
  return { slowest, coveredUs: Math.max(watch.coveredUs, event.eventEnd) };
}

/** The slowest step among the events of one request, given in order of arrival. */
export function slowestStep(events: readonly TraceEvent[]): SlowestStep | undefined {
  return events.reduce((watch, event, index) => watchStep(watch, event, index), noSteps).slowest;
}

/** The end of the last event in microseconds: how long the request took as far as it is known. */
export function endUs(events: readonly TraceEvent[]): number {
  return events.reduce((latest, event) => Math.max(latest, event.eventEnd), 0);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), Math.max(low, high));
}
