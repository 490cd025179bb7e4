/** What is encoded at once: the time that a word takes grows with the square of its length. */
const SHORT = 512;
const PIECE = 2048;
const RUN = 256;

/**
 * A text in pieces whose tokens are, but for a few, those of the whole: cut before the spaces that words begin with, and
 * anywhere in what has none.
 */
export function* pieces(text: string): Generator<string> {
  if (text.length <= SHORT) {
    yield text;
    return;
  }
  let from = 0;
  while (from < text.length) {
    const to = cut(text, from);
    yield text.slice(from, to);
    from = to;
  }
}

function cut(text: string, from: number): number {
  if (from + RUN >= text.length) return text.length;
  const limit = Math.min(from + PIECE, text.length);
  const space = text.lastIndexOf(' ', limit - 1);
  // Only where no run is longer than a word may be.
  if (space > from && longestRun(text, from, space) <= RUN) return space;
  const near = text.lastIndexOf(' ', from + RUN);
  const hard = near > from ? near : from + RUN;
  const code = text.charCodeAt(hard);
  return code >= 0xdc00 && code <= 0xdfff ? hard + 1 : hard;
}

/** Of characters between single spaces; spaces in a row are a run, too. */
function longestRun(text: string, from: number, to: number): number {
  let longest = 0;
  let start = from;
  for (let at = from; at <= to; at++) {
    const ends = at === to || (text.charCodeAt(at) === 0x20 && at > start && text.charCodeAt(at - 1) !== 0x20);
    if (!ends) continue;
    longest = Math.max(longest, at - start);
    start = at;
  }
  return longest;
}
