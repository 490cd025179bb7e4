import { clipEnd, fit, wrapHard } from '../terminal/text.ts';
import type { DiffLine } from './diff.ts';

/** Narrower than this two texts have no room beside each other. */
export const MIN_SIDE_COLUMNS = 44;

/** Columns of the mark before a text, and of the bar between the two. */
const MARK = 2;
const BAR = ' │ ';

/** Lines of two texts beside each other, and the column in which the bar stands. */
export interface SideBySide {
  readonly lines: readonly string[];
  readonly split: number;
}

/** What only the left has is marked `-`, what only the right has `+`; what was replaced stands beside what replaces it. */
export function sideBySide(difference: readonly DiffLine[], columns: number): SideBySide {
  const left = Math.floor((columns - BAR.length) / 2);
  const right = columns - BAR.length - left;
  const widths: Widths = { left, right };
  const lines: string[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1)
      lines.push(...rowsOf({ mark: '-', text: removed[at] }, { mark: '+', text: added[at] }, widths));
    removed = [];
    added = [];
  };
  for (const { mark, text } of difference) {
    if (mark === '-') removed.push(text);
    else if (mark === '+') added.push(text);
    else {
      flush();
      lines.push(...rowsOf({ mark: ' ', text }, { mark: ' ', text }, widths));
    }
  }
  flush();
  return { lines, split: left };
}

interface Cell {
  readonly mark: string;
  readonly text: string | undefined;
}

interface Widths {
  readonly left: number;
  readonly right: number;
}

/** Long texts go on below; nothing is cut. */
function rowsOf(left: Cell, right: Cell, widths: Widths): string[] {
  const lefts = partsOf(left, widths.left);
  const rights = partsOf(right, widths.right);
  return Array.from({ length: Math.max(lefts.length, rights.length) }, (_, at) =>
    `${fit(lefts[at] ?? '', widths.left)}${BAR}${clipEnd(rights[at] ?? '', widths.right)}`.trimEnd(),
  );
}

function partsOf({ mark, text }: Cell, columns: number): readonly string[] {
  if (text === undefined) return [];
  return wrapHard(text, columns - MARK).map((part) => `${mark} ${part}`);
}
