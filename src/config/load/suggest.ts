/** The known word nearest to a misspelt one, when it is near enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 64) return undefined;
  const lower = word.toLowerCase();
  const plain = simplified(lower);
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const distance = simplified(candidate.toLowerCase()) === plain ? 0 : editDistance(lower, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Without separators and plural: `request_timeouts` and `requestTimeout` are the same. */
function simplified(word: string): string {
  return word.replaceAll(/[-_]/g, '').replace(/s$/, '');
}

/** Edits from one word to the other; two neighbours that changed places count once (optimal string alignment). */
function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const cost = left[row - 1] === right[column - 1] ? 0 : 1;
      let value = Math.min((last[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost);
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (swapped) value = Math.min(value, (beforeLast[column - 2] ?? 0) + 1);
      current.push(value);
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length] ?? 0;
}
