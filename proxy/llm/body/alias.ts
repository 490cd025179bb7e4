type Alias = (model: string) => string;

interface Pattern {
  readonly parts: readonly string[];
  readonly target: string;
}

/** The name that a service knows a model by: exact names first, then patterns, the longest first. Applied once. */
export function modelAlias(aliases: Readonly<Record<string, string>> | undefined): Alias {
  if (aliases === undefined) return (model) => model;
  const exact = new Map(Object.entries(aliases));
  const patterns = Object.entries(aliases)
    .filter(([name]) => name.includes('*'))
    .toSorted(([left], [right]) => right.length - left.length || (left < right ? -1 : 1))
    .map(([name, target]): Pattern => ({ parts: name.split('*'), target }));
  return (model) => exact.get(model) ?? patterns.find(({ parts }) => fits(parts, model))?.target ?? model;
}

/** Every part in its order, the first at the start and the last at the end; linear in the name for each part. */
function fits(parts: readonly string[], name: string): boolean {
  const [first = ''] = parts;
  const last = parts.at(-1) ?? '';
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}
