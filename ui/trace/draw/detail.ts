import { drawPane } from '../../terminal/pane.ts';
import { highlight, seg, type Row, type Segment } from '../../terminal/row.ts';
import { slice, width as cellsOf } from '../../terminal/text.ts';
import { contentSize, type Layout } from '../layout.ts';
import type { TraceState } from '../state.ts';
import { highlightLine } from '../syntax.ts';

/** The pane on the right; colours are worked out for the visible lines only. */
export function detailPane(state: TraceState, layout: Layout): Row[] {
  const size = contentSize(layout, 'detail');
  const count = state.detail.lines.length;
  const rows: Row[] = [];
  for (let at = state.detailTop; at < Math.min(count, state.detailTop + size.height); at += 1) {
    rows.push({ segments: lineSegments(state, at, size.width) });
  }
  return drawPane(rows, {
    title: state.detail.title || 'Event',
    note: [state.format.toUpperCase(), state.wrap ? 'wrapped' : ''].filter((part) => part !== '').join(' '),
    ...layout.panes.detail,
    focused: state.focus === 'detail',
    framed: layout.framed,
    top: state.detailTop,
    count,
  });
}

function lineSegments(state: TraceState, at: number, width: number): Segment[] {
  const { detail } = state;
  const line = detail.lines[at] ?? '';
  if (detail.split !== undefined) return sideSegments(line, detail.split, state.search);
  const mark = detail.marks?.[at];
  const room = width - (mark === undefined ? 0 : 2);
  const shown = visiblePart(line, state.detailLeft, room);
  const segments =
    mark === undefined && state.detailLeft === 0
      ? highlightLine(shown, state.format, detail.blocks[at] ?? false)
      : plain(shown, mark);
  return [
    ...(mark === undefined ? [] : [seg(`${mark} `, styleOf(mark))]),
    ...highlight(segments, [state.search.toLowerCase()]),
  ];
}

/** Each side in the colour of the mark that it begins with. */
function sideSegments(line: string, split: number, search: string): Segment[] {
  const columns = cellsOf(line);
  const left = slice(line, 0, split);
  const right = columns > split + 3 ? slice(line, split + 3, columns - split - 3) : '';
  const segments = [plainSide(left), seg(' │ ', 'dim'), plainSide(right)];
  return highlight(segments, [search.toLowerCase()]);
}

function plainSide(text: string): Segment {
  const mark = text[0];
  return seg(text, mark === '+' || mark === '-' ? styleOf(mark) : 'plain');
}

function visiblePart(line: string, left: number, width: number): string {
  const part = slice(line, left, width);
  return left === 0 || part === '' ? part : `…${slice(line, left + 1, width - 1)}`;
}

function plain(text: string, mark: ' ' | '+' | '-' | undefined): Segment[] {
  return [seg(text, mark === undefined ? 'plain' : styleOf(mark))];
}

function styleOf(mark: ' ' | '+' | '-'): 'added' | 'removed' | 'plain' {
  return mark === '+' ? 'added' : mark === '-' ? 'removed' : 'plain';
}
