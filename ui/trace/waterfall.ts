import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { seg, type Segment } from '../terminal/row.ts';
import { formatMicros, spanOf, startUs, type SlowestStep } from './timing.ts';
import { nameOf } from './summary.ts';

export interface Axis {
  readonly totalUs: number;
  /** End of the event before. */
  readonly sinceUs: number;
  readonly cells: number;
  /** Whether this event, or the wait before it, is the request's slowest step. */
  readonly slowest: SlowestStep['kind'] | undefined;
}

/**
 * One event on the request's time axis, exactly `cells` wide: `━` while it ran, `╵` for an instant, and before it `╌` for
 * the time since the event before, in which nothing was reported. What took longest in the request is drawn as `█` or `┅`.
 */
export function barSegments(event: TraceEvent, axis: Axis): Segment[] {
  const { totalUs, cells } = axis;
  if (cells <= 0) return [];
  const span = spanOf(event, totalUs, cells);
  const gapFrom =
    totalUs <= 0
      ? span.from
      : Math.min(span.from, Math.floor((Math.min(axis.sinceUs, startUs(event)) / totalUs) * cells));
  const sign = span.kind === 'tick' ? '╵' : axis.slowest === 'step' ? '█' : '━';
  const waits = axis.slowest === 'gap';
  const style = event.severity === 'info' ? 'bar' : event.severity;
  return [
    seg(' '.repeat(gapFrom)),
    seg((waits ? '┅' : '╌').repeat(span.from - gapFrom), waits ? 'bold' : 'gap'),
    seg(sign.repeat(span.to - span.from), style),
    seg(' '.repeat(Math.max(0, cells - span.to))),
  ];
}

/** What took longest, as a person names it: `Backend Result`, `the wait before Snapshot final request`. */
export function slowestName(step: SlowestStep, event: TraceEvent): string {
  return step.kind === 'step' ? nameOf(event) : `the wait before ${nameOf(event)}`;
}

/** The line under a request: `slowest: 3.2ms (78 %) #12 Backend Result`. */
export function slowestLine(step: SlowestStep, event: TraceEvent, context: { total: number; number: number }): string {
  const share = context.total > 0 ? ` (${Math.round((step.us / context.total) * 100)} %)` : '';
  const [wait, name] = [step.kind === 'step' ? '' : 'the wait before ', nameOf(event)];
  return `slowest: ${formatMicros(step.us)}${share} ${wait}#${context.number} ${name}`;
}
