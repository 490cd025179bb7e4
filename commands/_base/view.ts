import { renderTable, type Column } from '../../ui/text/table.ts';
import type { Paint } from '../../ui/text/paint.ts';
import type { OutputFormat } from './flags.ts';

/** What a command shows: one list of facts, drawn in any format. */
export interface View<Row> {
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** Further columns of `-o wide`. */
  readonly wide?: readonly Column<Row>[];
  /** One word for a row, for `-o name`. */
  readonly name: (row: Row) => string;
}

export interface ViewOptions {
  readonly format: OutputFormat;
  readonly width: number | undefined;
  readonly paint: Paint;
}

/** The text of a view in one format. */
export async function renderView<Row>(view: View<Row>, { format, width, paint }: ViewOptions): Promise<string> {
  switch (format) {
    case 'table':
      return renderTable(view.columns, view.rows, { width, paint });
    case 'wide':
      return renderTable([...view.columns, ...(view.wide ?? [])], view.rows, { paint });
    case 'name':
      return view.rows.map((row) => `${view.name(row)}\n`).join('');
    case 'jsonl':
      return view.rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    default:
      return renderDocument(view.rows, format);
  }
}

/** JSON indented by two, or YAML; the order of keys stays. */
export async function renderDocument(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return `${JSON.stringify(value, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
}
