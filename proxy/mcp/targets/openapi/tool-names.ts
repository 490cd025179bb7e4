import { createHash } from 'node:crypto';

/** What MCP allows as the name of a tool. */
const ALLOWED = /^[A-Za-z0-9_.-]{1,128}$/;
const MAX_LENGTH = 128;

/**
 * The name of each operation's tool: its operationId, with `_` for every character that names of tools cannot have. Where that
 * is the name of another tool too, or is cut, it ends with a hash, so that no name depends on the order of operations.
 */
export function toolNames(operationIds: readonly string[]): ReadonlyMap<string, string> {
  const cleaned = new Map(operationIds.map((id) => [id, id.replaceAll(/[^A-Za-z0-9_.-]/gu, '_')]));
  const counts = new Map<string, number>();
  for (const name of cleaned.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
  const nameOf = (id: string, name: string): string => {
    if (ALLOWED.test(id)) return id;
    if (name.length <= MAX_LENGTH && counts.get(name) === 1) return name;
    const hash = createHash('sha256').update(id).digest('hex').slice(0, 8);
    return `${name.slice(0, MAX_LENGTH - hash.length - 1)}_${hash}`;
  };
  return new Map([...cleaned].map(([id, name]) => [id, nameOf(id, name)]));
}
