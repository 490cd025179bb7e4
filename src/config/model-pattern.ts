/**
 * Patterns of model names: a name, `prefix*`, `*suffix`, or `*` for every name.
 */

/** Whether a pattern stands for a name. */
export function isNamedBy(pattern: string, model: string): boolean {
  if (pattern === '*' || pattern === model) return true;
  if (pattern.endsWith('*')) return model.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('*') && model.endsWith(pattern.slice(1));
}

export function isPattern(name: string): boolean {
  return name.startsWith('*') || name.endsWith('*');
}

/** Whether there are names that both patterns stand for. */
export function overlaps(left: string, right: string): boolean {
  if (!isPattern(left)) return isNamedBy(right, left);
  if (!isPattern(right)) return isNamedBy(left, right);
  const [first, second] = [left.replace('*', ''), right.replace('*', '')];
  // What one asks of the start and the other of the end never gets in the way of each other.
  if (left.endsWith('*') !== right.endsWith('*') || left === '*' || right === '*') return true;
  if (left.endsWith('*')) return first.startsWith(second) || second.startsWith(first);
  return first.endsWith(second) || second.endsWith(first);
}
