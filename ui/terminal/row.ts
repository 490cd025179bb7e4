import type { Style, Theme } from '../theme.ts';
import { clean, clipEnd, width } from './text.ts';

/** A run of text with one meaning. */
export interface Segment {
  readonly text: string;
  readonly style?: Style | undefined;
}

/** One line of the screen. `base` lies under every segment, as the selection does. */
export interface Row {
  readonly segments: readonly Segment[];
  readonly base?: Style | undefined;
}

export const emptyRow: Row = { segments: [] };

export function seg(text: string, style?: Style): Segment {
  return { text, style };
}

/** A row of one text. */
export function row(text: string, style?: Style): Row {
  return { segments: [{ text, style }] };
}

export function rowWidth(segments: readonly Segment[]): number {
  return segments.reduce((sum, part) => sum + width(part.text), 0);
}

/** The segments cut or filled to exactly `columns`. */
export function fitSegments(segments: readonly Segment[], columns: number): Segment[] {
  const out: Segment[] = [];
  let left = columns;
  for (const part of segments) {
    if (left <= 0) break;
    const cells = width(part.text);
    const text = cells <= left ? part.text : clipEnd(part.text, left);
    out.push({ ...part, text });
    left -= cells <= left ? cells : width(text);
  }
  if (left > 0) out.push({ text: ' '.repeat(left) });
  return out;
}

export function fitRow(line: Row, columns: number): Row {
  return { ...line, segments: fitSegments(line.segments, columns) };
}

/** Marks every place where one of the (lower-case) needles occurs, keeping the styles around it. */
export function highlight(segments: readonly Segment[], needles: readonly string[]): Segment[] {
  const wanted = needles.filter((needle) => needle !== '');
  return wanted.length === 0 ? [...segments] : segments.flatMap((part) => markIn(part, wanted));
}

/** The row as text with SGR sequences; nothing in it but those can reach the terminal as a control character. */
export function toAnsi(line: Row, theme: Theme): string {
  const base = line.base === undefined ? [] : theme[line.base];
  let out = '';
  for (const part of line.segments) {
    const codes = [...base, ...theme[part.style ?? 'plain']];
    const text = clean(part.text);
    if (text === '') continue;
    out += codes.length === 0 ? text : `${codes.map((code) => `\u001b[${code}m`).join('')}${text}\u001b[0m`;
  }
  return out;
}

function markIn(part: Segment, needles: readonly string[]): Segment[] {
  const lower = part.text.toLowerCase();
  /* Lower-casing may change a text's length (`İ`); its positions would then point elsewhere. */
  if (lower.length !== part.text.length) return [part];
  const out: Segment[] = [];
  let from = 0;
  while (from < lower.length) {
    const hit = firstHit(lower, needles, from);
    if (hit === undefined) break;
    if (hit.at > from) out.push({ ...part, text: part.text.slice(from, hit.at) });
    out.push({ text: part.text.slice(hit.at, hit.at + hit.length), style: 'match' });
    from = hit.at + hit.length;
  }
  if (from < part.text.length) out.push({ ...part, text: part.text.slice(from) });
  return out;
}

function firstHit(text: string, needles: readonly string[], from: number): { at: number; length: number } | undefined {
  let best: { at: number; length: number } | undefined;
  for (const needle of needles) {
    const at = text.indexOf(needle, from);
    if (at >= 0 && (best === undefined || at < best.at)) best = { at, length: needle.length };
  }
  return best;
}
