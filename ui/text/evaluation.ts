import { renderTable } from './table.ts';
import type { Paint } from './paint.ts';

/** An evaluated expression, as far as it is drawn. */
export interface ShownEvaluation {
  /** The value as the language writes it, or what went wrong. */
  readonly text: string;
  readonly parts: readonly ShownPart[];
}

export interface ShownPart {
  readonly expression: string;
  readonly depth: number;
  readonly values: readonly string[];
  readonly rounds: number;
}

/** The value; with parts, a table of them, each below and right of the one that it is inside of. */
export function renderEvaluation({ text, parts }: ShownEvaluation, width: number | undefined, paint: Paint): string {
  if (parts.length === 0) return `${text}\n`;
  const columns = [
    { title: 'EXPRESSION', value: ({ depth, expression }: ShownPart) => `${'  '.repeat(depth)}${oneLine(expression)}` },
    { title: 'VALUE', value: valuesOf, cut: 'end' as const },
  ];
  return renderTable(columns, parts, { width, paint });
}

function oneLine(expression: string): string {
  return expression.replaceAll(/\s*\n\s*/g, ' ');
}

function valuesOf({ values, rounds }: ShownPart): string {
  if (rounds === 0) return 'not needed';
  const more = rounds > values.length ? `, … (${rounds} rounds)` : '';
  return `${values.join(', ')}${more}`;
}
