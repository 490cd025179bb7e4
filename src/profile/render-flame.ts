import { fitText, printable } from './fit-text.ts';
import { flameTree } from './flame-tree.ts';
import type { FlameNode } from './flame-tree.ts';
import { formatValue } from './format-value.ts';
import type { Profile } from './profile.ts';

export interface FlameOptions {
  /** Columns. */
  readonly width: number;
  /** Most lines; deeper calls are left out and counted in the last line. */
  readonly height: number;
  readonly color: boolean;
  /** A part of a function's name: only its calls are shown, as if it were the whole. */
  readonly focus?: string | undefined;
  /** Which sample type; the one the profile marks by default. */
  readonly measure?: number | undefined;
}

interface Cell {
  readonly node: FlameNode;
  readonly start: number;
  readonly end: number;
}

/** Warm backgrounds of the 256-colour palette on which black text can be read, in light and dark terminals. */
const PALETTE = [214, 215, 220, 222, 208, 216, 179, 180, 209, 173] as const;
/** Narrower cells are drawn without their name. */
const LEGIBLE_COLUMNS = 5;
const BLACK_TEXT = '\u001B[38;5;16m';
const RESET = '\u001B[0m';

/** Draws a profile as an icicle: callers above callees, as wide as their share. Without colour the cells stand in brackets. */
export function renderFlame(profile: Profile, options: FlameOptions): string[] {
  const index = options.measure ?? profile.shownFirst;
  const focus = options.focus === '' ? undefined : options.focus;
  const width = Math.max(1, options.width);
  const root = flameTree(profile, index, focus);
  if (root.value === 0) return [fitText('the profile has no samples', width)];
  const unit = profile.sampleTypes[index]?.unit ?? '';
  const rootText = `${focus === undefined ? 'all' : `calls of ${printable(focus)}`} ${formatValue(root.value, unit)}`;
  const rows = rowsOf({ node: root, start: 0, end: width });
  const shown = rows.length > options.height ? rows.slice(0, Math.max(1, options.height - 1)) : rows;
  const lines = shown.map((row, depth) =>
    drawRow(row, { total: root.value, color: options.color, rootText, isRoot: depth === 0 }),
  );
  const left = rows.length - shown.length;
  if (left > 0 && options.height > 1)
    lines.push(fitText(`… ${left} more ${left === 1 ? 'level' : 'levels'} of calls`, width));
  return lines;
}

/** The levels of calls from the root down, as far as there is a cell in which something can be read. */
function rowsOf(root: Cell): (readonly Cell[])[] {
  const rows: (readonly Cell[])[] = [];
  let row: readonly Cell[] = [root];
  do {
    rows.push(row);
    row = row.flatMap(childrenOf);
  } while (row.some((cell) => cell.end - cell.start >= LEGIBLE_COLUMNS));
  return rows;
}

/** Children share the parent's columns; boundaries are rounded from the left, so that no column is given twice or lost. */
function childrenOf(parent: Cell): Cell[] {
  const scale = (parent.end - parent.start) / parent.node.value;
  let before = 0;
  const cells: Cell[] = [];
  for (const node of parent.node.children) {
    const start = parent.start + Math.round(before * scale);
    before += node.value;
    const end = Math.min(parent.end, parent.start + Math.round(before * scale));
    if (end > start) cells.push({ node, start, end });
  }
  return cells;
}

interface RowStyle {
  readonly total: number;
  readonly rootText: string;
  readonly color: boolean;
  readonly isRoot: boolean;
}

function drawRow(row: readonly Cell[], style: RowStyle): string {
  let line = '';
  let column = 0;
  let left = -1;
  for (const cell of row) {
    line += ' '.repeat(cell.start - column);
    const text = style.isRoot ? style.rootText : labelOf(cell.node, style.total);
    const shade = shadeOf(cell.node.name, left);
    line += style.color ? colored(text, cell.end - cell.start, shade) : bracketed(text, cell.end - cell.start);
    left = shade;
    column = cell.end;
  }
  return line;
}

function labelOf(node: FlameNode, total: number): string {
  return `${printable(node.name)} ${((node.value / total) * 100).toFixed(1)}%`;
}

function colored(text: string, width: number, shade: number): string {
  const label = width < LEGIBLE_COLUMNS ? ' '.repeat(width) : ` ${fitText(text, width - 1)}`;
  return `\u001B[48;5;${PALETTE[shade] ?? PALETTE[0]}m${BLACK_TEXT}${label}${RESET}`;
}

function bracketed(text: string, width: number): string {
  if (width === 1) return '|';
  return `[${fitText(width < LEGIBLE_COLUMNS ? '' : text, width - 2)}]`;
}

/** The same function has the same shade in every drawing, unless its left neighbour has it. */
function shadeOf(name: string, left: number): number {
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  const shade = hash % PALETTE.length;
  return shade === left ? (shade + 1) % PALETTE.length : shade;
}
