import type { ConfigIssue } from '../errors.ts';

/** Offsets of a text, as lines and columns from 1. */
export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) this.#starts.push(at + 1);
  }

  at(offset: number): { readonly line: number; readonly column: number } {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (this.#starts[low] ?? 0) + 1 };
  }
}

/** A range of the original text, for an issue. */
export function placeOf(
  index: LineIndex,
  start: number,
  end: number,
): Required<Pick<ConfigIssue, 'line' | 'column' | 'length'>> {
  return { ...index.at(start), length: Math.max(1, end - start) };
}
