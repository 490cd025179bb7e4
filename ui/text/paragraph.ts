import { width, wrapHard } from '../terminal/text.ts';

/**
 * One line of text over as many rows as it takes, broken between words; rows after the first begin below `indent`. Words
 * that are longer than a row are broken where it ends. Without columns nothing is broken.
 */
export function paragraph(text: string, columns: number | undefined, indent: number): string {
  if (columns === undefined || width(text) <= columns) return text;
  const room = Math.max(10, columns - indent);
  const margin = ' '.repeat(indent);
  const rows: string[] = [];
  let row = '';
  const limit = (): number => (rows.length === 0 ? Math.max(columns, indent + 10) : room);
  for (const word of wordsOf(text)) {
    if (width(row) + width(word.trimEnd()) <= limit()) {
      row += word;
      continue;
    }
    if (row.trim() !== '') rows.push(row.trimEnd());
    const pieces = wrapHard(word, room);
    rows.push(...pieces.slice(0, -1));
    row = pieces.at(-1) ?? '';
  }
  rows.push(row.trimEnd());
  return rows.map((each, at) => (at === 0 ? each : margin + each)).join('\n');
}

/** Words with the spaces behind them; those in front belong to the first. */
function wordsOf(text: string): readonly string[] {
  return text.match(/^\s*\S+\s*|\S+\s*/g) ?? [text];
}
