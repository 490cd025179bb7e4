/** Whether any of the names that something goes by is wanted. */
export type NameFilter = (names: readonly string[]) => boolean;

/** Lets through what any pattern describes as a whole, capitals aside; without patterns everything. */
export function nameFilter(patterns: readonly string[]): NameFilter {
  if (patterns.length === 0) return () => true;
  const globs = patterns.map((pattern) => pattern.toLowerCase());
  return (names) => names.some((name) => name !== '' && globs.some((glob) => matchesGlob(name.toLowerCase(), glob)));
}

/** `*` stands for any characters, `/` included, `?` for one. Takes at most length × length steps. */
export function matchesGlob(text: string, glob: string): boolean {
  const letters = [...text];
  const pattern = [...glob];
  let at = 0;
  let next = 0;
  let star = -1;
  let starAt = 0;
  while (at < letters.length) {
    if (pattern[next] === '*') {
      star = next;
      starAt = at;
      next += 1;
    } else if (pattern[next] === '?' || pattern[next] === letters[at]) {
      at += 1;
      next += 1;
    } else if (star !== -1) {
      // The last star takes one character more.
      starAt += 1;
      at = starAt;
      next = star + 1;
    } else return false;
  }
  while (pattern[next] === '*') next += 1;
  return next === pattern.length;
}
