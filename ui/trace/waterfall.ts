import type { TraceEvent } from '../../src/admin/protocol/trace-event.ts';
import { seg, type Segment } from '../terminal/row.ts';
import { formatMicros, spanOf, startUs, type SlowestStep } from './timing.ts';
import { labelOf, summaryOf } from './summary.ts';

/**
 * One event on the request's time axis, exactly `cells` wide: `━` while it ran, `╵` for an instant, and before it `╌` for
 * the time since the event before, in which nothing was reported.
 */
export function barSegments(event: TraceEvent, axis: { totalUs: number; sinceUs: number; cells: number }): Segment[] {
  const { totalUs, cells } = axis;
  if (cells <= 0) return [];
  const span = spanOf(event, totalUs, cells);
  const gapFrom =
    totalUs <= 0
      ? span.from
      : Math.min(span.from, Math.floor((Math.min(axis.sinceUs, startUs(event)) / totalUs) * cells));
  const sign = span.kind === 'tick' ? '╵' : '━';
  const style = event.severity === 'info' ? 'bar' : event.severity;
  return [
    seg(' '.repeat(gapFrom)),
    seg('╌'.repeat(span.from - gapFrom), 'gap'),
    seg(sign.repeat(span.to - span.from), style),
    seg(' '.repeat(Math.max(0, cells - span.to))),
  ];
}

/** The line under a request: `slowest: Backend Result status=200 3.2ms (78 %)`. */
export function slowestLine(step: SlowestStep, event: TraceEvent, total: number): string {
  const share = total > 0 ? ` (${Math.round((step.us / total) * 100)} %)` : '';
  const what =
    step.kind === 'step' ? `${labelOf(event)} ${summaryOf(event)}` : `nothing reported before ${labelOf(event)}`;
  return `slowest: ${formatMicros(step.us)}${share} ${what}`;
}
