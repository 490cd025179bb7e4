import { thumb } from './list-window.ts';
import { fitRow, fitSegments, rowWidth, seg, type Row, type Segment } from './row.ts';
import { clipEnd } from './text.ts';

export interface PaneSpec {
  readonly title: string;
  /** Shown at the right end of the title line; dropped first when there is no room. */
  readonly note?: string;
  /** Outer size in cells. */
  readonly width: number;
  readonly height: number;
  readonly focused: boolean;
  /** Without a frame a pane has only its title line. */
  readonly framed: boolean;
  readonly top?: number;
  readonly count?: number;
}

/** The size that is left for a pane's content. */
export function innerSize(
  outer: { width: number; height: number },
  framed: boolean,
): { width: number; height: number } {
  return {
    width: Math.max(1, outer.width - (framed ? 2 : 0)),
    height: Math.max(1, outer.height - (framed ? 2 : 1)),
  };
}

/** Draws a pane: exactly `height` rows of `width` cells. The focused one has a heavy frame, so focus is not told by colour alone. */
export function drawPane(content: readonly Row[], spec: PaneSpec): Row[] {
  const inner = innerSize(spec, spec.framed);
  const lines = spec.framed ? spec.height - 2 : spec.height - 1;
  const rows: Row[] = [titleRow(spec)];
  const bar = thumb(spec.top ?? 0, inner.height, spec.count ?? 0);
  const style = spec.focused ? 'borderFocus' : 'border';
  const side = spec.focused ? '┃' : '│';
  for (let index = 0; index < lines; index += 1) {
    const line = fitRow(content[index] ?? { segments: [] }, inner.width);
    rows.push(
      spec.framed ? framedRow(line, side, style, bar !== undefined && index >= bar.from && index < bar.to) : line,
    );
  }
  if (spec.framed) rows.push(bottomRow(spec));
  return rows.slice(0, Math.max(0, spec.height));
}

function titleRow(spec: PaneSpec): Row {
  const heavy = spec.focused;
  const [left, line, right] = corners(heavy, spec.framed, ['┏', '━', '┓'], ['┌', '─', '┐']);
  const style = heavy ? 'borderFocus' : 'border';
  const room = spec.width - left.length - right.length;
  const title = ` ${clipEnd(spec.title, Math.max(1, room - 4))} `;
  const used = 1 + rowWidth([seg(title)]);
  const note = spec.note === undefined || spec.note === '' ? '' : ` ${spec.note} `;
  const noteFits = used + rowWidth([seg(note)]) + 2 <= room;
  const shown = noteFits ? note : '';
  const fill = Math.max(0, room - used - rowWidth([seg(shown)]) - (shown === '' ? 0 : 1));
  const segments: Segment[] = [
    seg(left + line, style),
    seg(title, heavy ? 'title' : 'plain'),
    seg(line.repeat(fill), style),
    seg(shown, 'dim'),
    seg((shown === '' ? '' : line) + right, style),
  ];
  return { segments: fitSegments(segments, spec.width) };
}

function bottomRow(spec: PaneSpec): Row {
  const [left, line, right] = corners(spec.focused, true, ['┗', '━', '┛'], ['└', '─', '┘']);
  return {
    segments: [seg(left + line.repeat(Math.max(0, spec.width - 2)) + right, spec.focused ? 'borderFocus' : 'border')],
  };
}

function framedRow(line: Row, side: string, style: 'border' | 'borderFocus', isThumb: boolean): Row {
  /* The frame keeps its own style; the base of the line (the selection) is laid under its content only. */
  const content = line.segments.map((part) => part);
  const body: Segment[] =
    line.base === undefined ? content : [{ text: content.map((part) => part.text).join(''), style: line.base }];
  return { segments: [seg(side, style), ...body, seg(isThumb ? '█' : side, style)] };
}

function corners<T extends readonly [string, string, string]>(
  heavy: boolean,
  framed: boolean,
  strong: T,
  light: T,
): readonly [string, string, string] {
  const chosen = heavy ? strong : light;
  return framed ? chosen : ['', chosen[1], ''];
}
