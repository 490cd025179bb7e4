import { GwError } from '../../shared/errors.ts';

/** What is wrong with the text of an expression, and where. */
export class CelSyntaxError extends GwError {
  readonly reason: string;
  /** From the start of the text, in UTF-16 units. */
  readonly offset: number;
  /** Both from 1. */
  readonly line: number;
  readonly column: number;

  constructor(reason: string, source: string, offset: number) {
    const { line, column } = positionOf(source, offset);
    super(`${reason} (line ${line}, column ${column})`, { code: 'GW_CEL_SYNTAX' });
    this.name = 'CelSyntaxError';
    this.reason = reason;
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

/** Line and column of an offset, both from 1. */
export function positionOf(source: string, offset: number): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset);
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - lineStart + 1 };
}
