import { innerSize } from '../terminal/pane.ts';
import type { Pane, TraceState } from './state.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** Where the parts of the screen go; every number is in cells, and together they never exceed the terminal. */
export interface Layout {
  readonly kind: 'side' | 'stack' | 'single';
  readonly framed: boolean;
  readonly header: number;
  readonly footer: number;
  readonly body: Size;
  /** Outer sizes; a pane that is not shown has the size it would have alone. */
  readonly panes: Readonly<Record<Pane, Size>>;
}

type Dimensions = Pick<TraceState, 'columns' | 'rows' | 'zoomed'>;

/** Side by side from 80 columns, one above the other in a narrow but tall terminal, else one at a time. */
export function layoutOf({ columns, rows, zoomed }: Dimensions): Layout {
  const header = rows >= 16 ? 2 : rows >= 5 ? 1 : 0;
  const footer = rows >= 8 ? 2 : rows >= 3 ? 1 : 0;
  const body = { width: Math.max(1, columns), height: Math.max(1, rows - header - footer) };
  const frame = { framed: columns >= 60 && body.height >= 6, header, footer, body };
  if (!zoomed && columns >= 80) return { ...frame, kind: 'side', panes: sideBySide(body) };
  if (!zoomed && body.height >= 16) return { ...frame, kind: 'stack', panes: stacked(body) };
  return { ...frame, kind: 'single', panes: { events: body, detail: body } };
}

/** The rows and columns that a pane has for its content. */
export function contentSize(layout: Layout, pane: Pane): Size {
  return innerSize(layout.panes[pane], layout.framed);
}

function sideBySide(body: Size): Record<Pane, Size> {
  const width = Math.round(body.width * 0.6);
  return { events: { width, height: body.height }, detail: { width: body.width - width, height: body.height } };
}

function stacked(body: Size): Record<Pane, Size> {
  const height = Math.ceil(body.height * 0.55);
  return { events: { width: body.width, height }, detail: { width: body.width, height: body.height - height } };
}
