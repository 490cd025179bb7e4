import { fitSegments, rowWidth, seg, type Row, type Segment } from '../../terminal/row.ts';
import { clipMiddle } from '../../terminal/text.ts';
import { fittingLine, isProblem, rpcProblem, shortRoute, statusText, type RequestFacts } from '../request.ts';
import { spentText } from '../chat.ts';
import type { TraceState } from '../state.ts';
import { formatMicros } from '../timing.ts';
import { slowestLine } from '../waterfall.ts';

/** The lines at the top: what is traced, the selected request with its outcome, and where its time went. */
export function headerRows(state: TraceState, height: number): Row[] {
  const facts = state.groups[state.selection?.request ?? state.groups.length - 1]?.facts;
  const rows = [identity(state, facts), secondLine(state, facts)];
  return rows.slice(0, height).map((segments) => ({ segments: fitSegments(segments, state.columns) }));
}

/** A status code and its glyph, in the colour of its class. */
export function statusSegment(facts: RequestFacts): Segment {
  const text = statusText(facts);
  const code = facts.status ?? 0;
  if (code >= 500 || (code === 0 && facts.error !== undefined)) return seg(`✗ ${text}`, 'error');
  // HTTP carries errors of JSON-RPC as it carries results.
  if (rpcProblem(facts) !== undefined) return seg(`✗ ${text}`, 'error');
  if (code >= 400) return seg(`! ${text}`, 'warn');
  return code > 0 ? seg(`✓ ${text}`, 'success') : seg(text, 'dim');
}

function identity(state: TraceState, facts: RequestFacts | undefined): Segment[] {
  const right = streamSegments(state);
  const room = state.columns - rowWidth(right) - 2;
  const left = facts === undefined ? [seg(` ${state.title}`, 'title')] : requestSegments(state, facts, room);
  const fitted = fitSegments(left, Math.max(0, room));
  return [...fitted, seg('  '), ...right];
}

function requestSegments(state: TraceState, facts: RequestFacts, room: number): Segment[] {
  const outcome: Segment[] = [seg(' → ', 'dim'), statusSegment(facts), seg(`  ${formatMicros(facts.totalUs)}`, 'bold')];
  const problem = rpcProblem(facts);
  if (problem !== undefined) outcome.push(seg(`  ${problem}`, 'error'));
  const showTitle = room >= 70;
  const title = showTitle ? [seg(` ${clipMiddle(state.title, 24)}`, 'dim'), seg('  ')] : [seg(' ')];
  const used = rowWidth(outcome) + rowWidth(title);
  return [...title, seg(fittingLine(facts, Math.max(8, room - used)), 'title'), ...outcome];
}

function streamSegments(state: TraceState): Segment[] {
  const word = (text: string): string => (state.columns < 60 ? ' ' : ` ${text} `);
  if (state.stream.complete) return [seg(`■${word('complete')}`, 'dim')];
  return state.attached ? [seg(`●${word('following')}`, 'success')] : [seg(`‖${word('detached')}`, 'warn')];
}

function secondLine(state: TraceState, facts: RequestFacts | undefined): Segment[] {
  if (facts === undefined) return [seg(' waiting for trace data', 'dim')];
  const counts = facts.errors + facts.warnings === 0 ? 'no problems' : `${facts.errors} ✗  ${facts.warnings} !`;
  const parts: Segment[] = [seg(` ${facts.events} events  `, 'dim'), seg(counts, isProblem(facts) ? 'warn' : 'dim')];
  const step = facts.steps.slowest;
  const entry = step === undefined ? undefined : state.entries.items[step.index];
  if (step !== undefined && entry !== undefined) {
    parts.push(seg(`  ${slowestLine(step, entry.event, { total: facts.totalUs, number: entry.number })}`));
  }
  const spent = facts.chat === undefined ? '' : spentText(facts.chat);
  if (spent !== '') parts.push(seg(`  ${spent}`));
  if (typeof facts.route === 'string') parts.push(seg(`  route ${shortRoute(facts.route)}`, 'dim'));
  return parts;
}
