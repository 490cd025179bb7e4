/** One line of a difference: only before (`-`), only after (`+`), in both (` `). */
export interface DiffLine {
  readonly mark: ' ' | '+' | '-';
  readonly text: string;
}

/* Beyond this many edits two texts have nothing in common that is worth showing. */
const MAX_EDITS = 400;

/** The shortest line edit from `before` to `after` (Myers, "An O(ND) Difference Algorithm", greedy variant). */
export function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  const head = commonHead(before, after);
  const tail = commonTail(before, after, head);
  const a = before.slice(head, before.length - tail);
  const b = after.slice(head, after.length - tail);
  return [
    ...before.slice(0, head).map((text) => ({ mark: ' ' as const, text })),
    ...middle(a, b),
    ...before.slice(before.length - tail).map((text) => ({ mark: ' ' as const, text })),
  ];
}

function middle(a: readonly string[], b: readonly string[]): DiffLine[] {
  const history = a.length === 0 || b.length === 0 ? undefined : search(a, b);
  if (history === undefined) {
    return [...a.map((text) => ({ mark: '-' as const, text })), ...b.map((text) => ({ mark: '+' as const, text }))];
  }
  return trace(a, b, history);
}

/** For each number of edits the furthest point on each diagonal; undefined beyond the limit. */
function search(a: readonly string[], b: readonly string[]): Map<number, number>[] | undefined {
  const furthest = new Map<number, number>([[1, 0]]);
  const history: Map<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(MAX_EDITS, a.length + b.length); edits += 1) {
    history.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = goesDown(furthest, diagonal, edits) ? at(furthest, diagonal + 1) : at(furthest, diagonal - 1) + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= a.length && x - diagonal >= b.length) return history;
    }
  }
  return undefined;
}

/** Walks the history back from the end and yields the lines in order. */
function trace(a: readonly string[], b: readonly string[], history: readonly Map<number, number>[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = history.length - 1; edits >= 0; edits -= 1) {
    const furthest = history[edits] ?? new Map<number, number>();
    const diagonal = x - y;
    const down = goesDown(furthest, diagonal, edits);
    const fromX = at(furthest, down ? diagonal + 1 : diagonal - 1);
    const fromY = fromX - (down ? diagonal + 1 : diagonal - 1);
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ mark: ' ', text: a[x - 1] ?? '' });
      x -= 1;
      y -= 1;
    }
    if (edits === 0) break;
    lines.push(down ? { mark: '+', text: b[y - 1] ?? '' } : { mark: '-', text: a[x - 1] ?? '' });
    x = fromX;
    y = fromY;
  }
  return lines.toReversed();
}

function goesDown(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): boolean {
  return diagonal === -edits || (diagonal !== edits && at(furthest, diagonal - 1) < at(furthest, diagonal + 1));
}

function at(furthest: ReadonlyMap<number, number>, diagonal: number): number {
  return furthest.get(diagonal) ?? -1;
}

function commonHead(a: readonly string[], b: readonly string[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a[count] === b[count]) count += 1;
  return count;
}

function commonTail(a: readonly string[], b: readonly string[], head: number): number {
  const limit = Math.min(a.length, b.length) - head;
  let count = 0;
  while (count < limit && a[a.length - 1 - count] === b[b.length - 1 - count]) count += 1;
  return count;
}
