import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Exactly `width` columns of text: padded with spaces, or cut in the middle with `…`. */
export function fitText(text: string, width: number): string {
  if (width <= 0) return '';
  const wide = stringWidth(text);
  if (wide <= width) return text + ' '.repeat(width - wide);
  const parts = Array.from(graphemes.segment(text), (part) => part.segment);
  const tail = takeColumns(parts.toReversed(), Math.floor((width - 1) / 2))
    .toReversed()
    .join('');
  const head = takeColumns(parts, width - 1 - stringWidth(tail)).join('');
  const cut = `${head}…${tail}`;
  return cut + ' '.repeat(width - stringWidth(cut));
}

/** A name from a file without the characters that would move the cursor or change colours. */
export function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
}

function takeColumns(parts: readonly string[], columns: number): string[] {
  const taken: string[] = [];
  let used = 0;
  for (const part of parts) {
    used += stringWidth(part);
    if (used > columns) break;
    taken.push(part);
  }
  return taken;
}
