import { clean, width } from '../terminal/text.ts';

/** What stands before and behind the place at most. */
const BEFORE = 50;
const BEHIND = 30;

/** The line of a source that a place is in, and below it a caret at the place. */
export function excerpt(source: string, offset: number): string {
  const at = Math.min(Math.max(0, offset), source.length);
  const lineStart = source.lastIndexOf('\n', at - 1) + 1;
  const newline = source.indexOf('\n', at);
  const lineEnd = newline === -1 ? source.length : newline;
  const from = at - lineStart > BEFORE ? at - BEFORE : lineStart;
  const to = lineEnd - at > BEHIND ? at + BEHIND : lineEnd;
  const before = `${from > lineStart ? '…' : ''}${shown(source.slice(from, at))}`;
  const behind = `${shown(source.slice(at, to))}${to < lineEnd ? '…' : ''}`;
  return `  ${before}${behind}\n  ${' '.repeat(width(before))}^`;
}

function shown(text: string): string {
  return clean(text.replaceAll('\t', ' ').replaceAll('\r', ''));
}
