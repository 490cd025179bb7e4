import { isJsonObject, type JsonObject, type JsonValue } from '../../../../src/shared/json.ts';
import { ownerNamed, ownerOf, referenceOf } from './reference.ts';

/**
 * Components that contain themselves over whatever way, and those that lie between two such: what cannot be written out.
 * Linear in the size of the document.
 */
export function cyclicComponents(document: JsonObject): ReadonlySet<string> {
  const to = referencesOf(document);
  const from = new Map<string, Set<string>>([...to.keys()].map((name) => [name, new Set()]));
  for (const [name, targets] of to) for (const target of targets) from.get(target)?.add(name);
  const left = new Set(to.keys());
  // What leads to nothing that is left, or is reached from nothing that is, is on no cycle.
  drop(left, { edges: to, back: from });
  drop(left, { edges: from, back: to });
  return left;
}

type Edges = ReadonlyMap<string, ReadonlySet<string>>;

function drop(left: Set<string>, { edges, back }: { readonly edges: Edges; readonly back: Edges }): void {
  const counts = new Map([...left].map((name) => [name, sizeWithin(edges.get(name), left)]));
  const waiting = [...left].filter((name) => counts.get(name) === 0);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    left.delete(name);
    for (const other of back.get(name) ?? []) {
      if (!left.has(other)) continue;
      const count = (counts.get(other) ?? 0) - 1;
      counts.set(other, count);
      if (count === 0) waiting.push(other);
    }
  }
}

function sizeWithin(names: ReadonlySet<string> | undefined, left: ReadonlySet<string>): number {
  let size = 0;
  for (const name of names ?? []) if (left.has(name)) size++;
  return size;
}

/** Each component with those that stand in it. */
function referencesOf({ components }: JsonObject): Edges {
  const found = new Map<string, Set<string>>();
  if (!isJsonObject(components)) return found;
  for (const [kind, group] of Object.entries(components)) {
    if (!isJsonObject(group)) continue;
    for (const [name, value] of Object.entries(group)) found.set(ownerNamed(kind, name), ownersIn(value));
  }
  return found;
}

function ownersIn(root: JsonValue): Set<string> {
  const owners = new Set<string>();
  const waiting: JsonValue[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    const reference = isJsonObject(value) ? referenceOf(value) : null;
    const owner = reference === null ? null : ownerOf(reference);
    if (owner !== null) owners.add(owner);
    for (const each of Object.values(value)) waiting.push(each);
  }
  return owners;
}
