import { clean, clipEnd, clipMiddle, width } from '../terminal/text.ts';
import type { Style } from '../theme.ts';
import { plainPaint, type Paint } from './paint.ts';

export interface Column<Row> {
  readonly title: string;
  readonly value: (row: Row) => string;
  readonly align?: 'left' | 'right';
  /** Of a name both ends matter, of a sentence the beginning. */
  readonly cut?: 'middle' | 'end';
  readonly style?: (row: Row) => Style;
}

export interface TableOptions {
  /** Columns of the terminal; without it nothing is cut. */
  readonly width?: number | undefined;
  readonly paint?: Paint | undefined;
}

const GAP = '  ';
/** How far columns are narrowed: gently first, then as far as it takes. */
const FLOORS = [12, 6, 3];

/** Draws rows under their titles, two spaces between columns, one line each, with a line end behind every line. */
export function renderTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  options: TableOptions = {},
): string {
  const paint = options.paint ?? plainPaint;
  const cells = rows.map((row) => columns.map((column) => clean(column.value(row))));
  const natural = columns.map((column, at) =>
    Math.max(width(column.title), ...cells.map((line) => width(line[at] ?? ''))),
  );
  const widths = options.width === undefined ? natural : narrow(natural, options.width);
  const line = (texts: readonly string[], styleOf: (at: number) => Style): string =>
    columns
      .map((column, at) =>
        cell(texts[at] ?? '', {
          column,
          width: widths[at] ?? 0,
          last: at === columns.length - 1,
          paint,
          style: styleOf(at),
        }),
      )
      .join(GAP)
      .trimEnd();
  const titles = line(
    columns.map((column) => column.title),
    () => 'bold',
  );
  const body = rows.map((row, index) => line(cells[index] ?? [], (at) => columns[at]?.style?.(row) ?? 'plain'));
  return [titles, ...body].map((text) => `${text}\n`).join('');
}

interface CellOptions<Row> {
  readonly column: Column<Row>;
  readonly width: number;
  readonly last: boolean;
  readonly paint: Paint;
  readonly style: Style;
}

function cell<Row>(text: string, { column, width: columns, last, paint, style }: CellOptions<Row>): string {
  const fitted = column.cut === 'end' ? clipEnd(text, columns) : clipMiddle(text, columns);
  const padding = ' '.repeat(Math.max(0, columns - width(fitted)));
  if (column.align === 'right') return padding + paint(style, fitted);
  return paint(style, fitted) + (last ? '' : padding);
}

/** Takes from the widest column until the table fits, never below a floor that sinks only when it must. */
function narrow(natural: readonly number[], available: number): readonly number[] {
  const widths = [...natural];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  let excess = widths.reduce((sum, each) => sum + each, gaps) - available;
  for (const floor of FLOORS) {
    while (excess > 0) {
      const widest = widths.indexOf(Math.max(...widths));
      const current = widths[widest] ?? 0;
      if (current <= floor) break;
      const next = Math.max(0, ...widths.filter((each) => each < current));
      const step = Math.max(1, Math.min(excess, current - Math.max(next, floor)));
      widths[widest] = current - step;
      excess -= step;
    }
  }
  return widths;
}

export interface Pair {
  readonly name: string;
  readonly value: string;
}

/** `name   value` lines, the names as wide as the longest. */
export function renderPairs(pairs: readonly Pair[], paint: Paint = plainPaint): string {
  const widest = Math.max(0, ...pairs.map((pair) => width(pair.name)));
  return pairs
    .map(({ name, value }) => {
      const padding = ' '.repeat(widest - width(name) + GAP.length);
      return `${paint('dim', clean(name))}${padding}${clean(value)}`.trimEnd();
    })
    .map((line) => `${line}\n`)
    .join('');
}
