import { keyLine } from '../../terminal/command.ts';
import { fitSegments, seg, type Row, type Segment } from '../../terminal/row.ts';
import { footerCommands } from '../commands.ts';
import type { TraceState } from '../state.ts';

/** The lines at the bottom: the prompt or what was last said, and the six most useful keys of the focused pane. */
export function footerRows(state: TraceState, height: number): Row[] {
  const status = statusSegments(state);
  const keys = keyLine(footerCommands(state.focus), state.columns).segments;
  const speaks = state.overlay.kind === 'prompt' || state.status.text !== '';
  const lines = height >= 2 ? [status, keys] : [speaks ? status : keys];
  return lines.slice(0, height).map((segments) => ({ segments: fitSegments(segments, state.columns) }));
}

function statusSegments(state: TraceState): Segment[] {
  if (state.overlay.kind === 'prompt')
    return promptSegments(state, state.overlay.text, state.overlay.pane === 'events');
  const { text, tone } = state.status;
  if (text !== '') return [seg(` ${tone === 'error' ? '✗ ' : tone === 'success' ? '✓ ' : ''}${text}`, tone)];
  return [seg(` ${streamText(state)}`, 'dim')];
}

function promptSegments(state: TraceState, text: string, filters: boolean): Segment[] {
  const verb = filters ? (state.filter.hides ? 'filter' : 'mark') : 'search';
  const hint = filters ? '   tab: filter or mark' : '';
  return [seg(` ${verb}/`, 'bold'), seg(text), seg('█'), seg(`${hint}   ⏎ keep   esc undo`, 'dim')];
}

function streamText(state: TraceState): string {
  const count = state.entries.length;
  if (state.stream.complete) return `stream complete, ${count} event${count === 1 ? '' : 's'}`;
  if (count === 0) return 'waiting for trace data';
  const requests = state.groups.length > 1 ? ` of ${state.groups.length} requests` : '';
  return `${count} event${count === 1 ? '' : 's'}${requests}`;
}
