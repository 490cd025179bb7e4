import { clean, width } from '../terminal/text.ts';

/** Characters that are shown at most, and how many of them before the place. */
const SHOWN = 76;
const BEFORE = 46;

/** The line of a source that a place is in, and below it a caret at the place. */
export function excerpt(source: string, offset: number): string {
  const at = Math.min(Math.max(0, offset), source.length);
  const lineStart = source.lastIndexOf('\n', at - 1) + 1;
  const newline = source.indexOf('\n', at);
  const lineEnd = newline === -1 ? source.length : newline;
  const from = at - lineStart > BEFORE ? at - BEFORE : lineStart;
  const to = Math.min(lineEnd, from + SHOWN);
  const before = `${from > lineStart ? '…' : ''}${shown(source.slice(from, at))}`;
  const behind = `${shown(source.slice(at, to))}${to < lineEnd ? '…' : ''}`;
  return `  ${before}${behind}\n  ${' '.repeat(width(before))}^`;
}

function shown(text: string): string {
  return clean(text.replaceAll('\t', ' ').replaceAll('\r', ''));
}
