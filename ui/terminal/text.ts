import stringWidth from 'string-width';

const segmenter = new Intl.Segmenter();
/*
 * Characters of one UTF-16 unit and one column each: ASCII, Latin, box drawing, and the signs that the screens use.
 * Nearly every text is made of them, and segmenting all others costs most of a frame (bench/ui.ts).
 */
const PLAIN =
  /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u024f\u2013-\u201f\u2026\u2190-\u2193\u2423-\u24ff\u2500-\u259f\u25a0\u25b8\u25be\u25cf\u23ce\u2713\u2717]*$/;
/* Control characters, lone surrogates, direction overrides and invisible marks: text from the wire must not steer the terminal. */
const UNSAFE =
  /[\p{Control}\p{Surrogate}\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e0fff}]/u;
const UNSAFE_ALL = new RegExp(UNSAFE.source, 'gu');

/** The text with everything that could move the cursor or hide characters shown as visible signs (`␛`, `␊`, `�`). */
export function clean(text: string): string {
  if (PLAIN.test(text) || !UNSAFE.test(text)) return text;
  return text.replace(UNSAFE_ALL, visible);
}

/** Columns that the text takes in a terminal; CJK and emoji count two. */
export function width(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(clean(text));
}

/** Cuts the end off so that at most `columns` are left, with `…` in place of what is gone. */
export function clipEnd(text: string, columns: number): string {
  if (columns <= 0) return '';
  const safe = clean(text);
  if (width(safe) <= columns) return safe;
  return `${takeStart(safe, columns - 1)}…`;
}

/** Cuts the middle out; of a path both what it begins and what it ends with stay readable. */
export function clipMiddle(text: string, columns: number): string {
  if (columns <= 0) return '';
  const safe = clean(text);
  if (width(safe) <= columns) return safe;
  if (columns < 4) return clipEnd(safe, columns);
  const tail = Math.floor((columns - 1) / 2);
  const head = columns - 1 - tail;
  return `${takeStart(safe, head)}…${takeEnd(safe, tail)}`;
}

/** Exactly `columns` wide: cut at the end or filled with spaces. */
export function fit(text: string, columns: number): string {
  const cut = clipEnd(text, columns);
  return cut + ' '.repeat(Math.max(0, columns - width(cut)));
}

/** Like `fit`, with the text at the right edge. */
export function fitRight(text: string, columns: number): string {
  const cut = clipEnd(text, columns);
  return ' '.repeat(Math.max(0, columns - width(cut))) + cut;
}

/** The part of the text that starts at column `from`, at most `columns` wide; half of a wide character becomes a space. */
export function slice(text: string, from: number, columns: number): string {
  const safe = clean(text);
  if (PLAIN.test(safe)) return safe.slice(from, from + columns);
  let column = 0;
  let out = '';
  for (const { segment } of segmenter.segment(safe)) {
    const cells = stringWidth(segment);
    const start = column;
    column += cells;
    if (start < from && column <= from) continue;
    if (start >= from + columns) break;
    out += start < from || column > from + columns ? ' ' : segment;
  }
  return out;
}

/** Breaks one line into rows of at most `columns`, at any character; an empty line stays one row. */
export function wrapHard(text: string, columns: number): string[] {
  const safe = clean(text);
  if (columns <= 0) return [''];
  if (width(safe) <= columns) return [safe];
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const { segment } of segmenter.segment(safe)) {
    const cells = stringWidth(segment);
    if (used + cells > columns && row !== '') {
      rows.push(row);
      row = '';
      used = 0;
    }
    row += segment;
    used += cells;
  }
  rows.push(row);
  return rows;
}

function takeStart(safe: string, columns: number): string {
  if (PLAIN.test(safe.slice(0, columns))) return safe.slice(0, columns);
  let used = 0;
  let out = '';
  for (const { segment } of segmenter.segment(safe)) {
    used += stringWidth(segment);
    if (used > columns) break;
    out += segment;
  }
  return out;
}

function takeEnd(safe: string, columns: number): string {
  if (columns <= 0) return '';
  if (PLAIN.test(safe.slice(-columns))) return safe.slice(-columns);
  /* Twice the columns and some more in UTF-16 units hold every cluster that can be shown. */
  const clusters = [...segmenter.segment(safe.slice(-columns * 16))].map((part) => part.segment);
  let used = 0;
  let start = clusters.length;
  while (start > 0) {
    const cells = stringWidth(clusters[start - 1] ?? '');
    if (used + cells > columns) break;
    used += cells;
    start -= 1;
  }
  return clusters.slice(start).join('');
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : '�';
}
