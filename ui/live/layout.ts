import type { LiveState } from './state.ts';

/** Heights of the parts of the live screen; together they are the terminal's. */
export interface LiveLayout {
  readonly header: number;
  /** Outer height of the table's pane. */
  readonly table: number;
  readonly footer: number;
  readonly framed: boolean;
}

/** The header names addresses and commands to try only where there is room for them. */
export function layoutOf({ columns, rows, curls }: Pick<LiveState, 'columns' | 'rows' | 'curls'>): LiveLayout {
  const footer = rows >= 8 ? 2 : rows >= 3 ? 1 : 0;
  const wanted = 2 + (rows >= 20 ? curls.length : 0);
  const header = rows >= 14 ? Math.min(wanted, rows - footer - 8) : rows >= 5 ? 1 : 0;
  const table = Math.max(1, rows - header - footer);
  return { header, table, footer, framed: columns >= 60 && table >= 6 };
}

/** The rows of the table without its frame and its heading. */
export function tableHeight(layout: LiveLayout): number {
  return Math.max(1, layout.table - (layout.framed ? 3 : 2));
}
