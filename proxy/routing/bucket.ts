import type { Candidate } from './candidate-list.ts';
import { CandidateList } from './candidate-list.ts';
import type { LazyQuery } from './condition.ts';
import { conditionsHold } from './condition.ts';
import type { RoutedRequest } from './facts.ts';
import { comparePrecedence } from './precedence.ts';

interface PrefixNode<C extends Candidate> {
  readonly children: Map<string, PrefixNode<C>>;
  /** While building, in order of precedence. */
  readonly collected: C[];
  /** Filled once the tree is complete. */
  candidates: CandidateList<C> | null;
  /** The nearest node towards the root that has candidates; filled once the tree is complete. */
  above: PrefixNode<C> | null;
}

/**
 * The routes of one hostname, indexed by path: exact paths in a hash map, prefixes in a tree of segments, regular
 * expressions in a list. The walk down the tree ends where the configuration ends, however long the path is.
 */
export class Bucket<C extends Candidate> {
  readonly #exact = new Map<string, CandidateList<C>>();
  readonly #prefixes: PrefixNode<C> = newNode();
  readonly #regexes: C[] = [];
  /** A prefix like `/a//` is longer than its place in the tree tells, so that a deeper node need not win. */
  #unevenPrefixes = false;

  constructor(candidates: readonly C[]) {
    const exact = new Map<string, C[]>();
    for (const candidate of [...candidates].sort(comparePrecedence)) this.#add(candidate, exact);
    for (const [path, same] of exact) this.#exact.set(path, new CandidateList(same));
    completeTree(this.#prefixes);
  }

  find(path: string, request: RoutedRequest, query: LazyQuery): C | null {
    if (this.#exact.size > 0) {
      const exact = this.#exact.get(path);
      const found = exact === undefined ? null : exact.first(request, query);
      if (found !== null) return found;
    }
    return this.#findPrefix(path, request, query) ?? this.#findRegex(path, request, query);
  }

  #add(candidate: C, exact: Map<string, C[]>): void {
    const { kind, value } = candidate.match.path;
    if (kind === 'regex') this.#regexes.push(candidate);
    else if (kind === 'pathPrefix') this.#addPrefix(value, candidate);
    else if (exact.get(value)?.push(candidate) === undefined) exact.set(value, [candidate]);
  }

  #addPrefix(value: string, candidate: C): void {
    const prefix = normalPrefix(value);
    if (prefix !== '' && prefix.charCodeAt(0) !== 47) return; // no path begins so
    if (value.length > prefix.length + 1) this.#unevenPrefixes = true;
    let node = this.#prefixes;
    for (const segment of prefix.split('/').slice(1)) {
      let child = node.children.get(segment);
      if (child === undefined) node.children.set(segment, (child = newNode()));
      node = child;
    }
    node.collected.push(candidate);
  }

  #findPrefix(path: string, request: RoutedRequest, query: LazyQuery): C | null {
    let best: C | null = null;
    for (let node: PrefixNode<C> | null = this.#deepest(path); node !== null; node = node.above) {
      const found = node.candidates?.first(request, query) ?? null;
      if (found === null) continue;
      if (!this.#unevenPrefixes) return found;
      if (best === null || comparePrecedence(found, best) < 0) best = found;
    }
    return best;
  }

  /** The node of the longest configured chain of whole segments that the path begins with. */
  #deepest(path: string): PrefixNode<C> {
    let node = this.#prefixes;
    let from = 1;
    while (node.children.size > 0 && from <= path.length) {
      const slash = path.indexOf('/', from);
      const child = node.children.get(slash === -1 ? path.slice(from) : path.slice(from, slash));
      if (child === undefined) return node;
      node = child;
      if (slash === -1) return node;
      from = slash + 1;
    }
    return node;
  }

  #findRegex(path: string, request: RoutedRequest, query: LazyQuery): C | null {
    for (const candidate of this.#regexes) {
      const { conditions } = candidate;
      if (conditionsHold(conditions, request, query) && conditions.pathRegex?.(path) === true) return candidate;
    }
    return null;
  }
}

/** A prefix without the slashes at its end, which do not count; the prefix of everything is empty. */
export function normalPrefix(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && prefix.charCodeAt(end - 1) === 47) end -= 1;
  return prefix.slice(0, end);
}

function newNode<C extends Candidate>(): PrefixNode<C> {
  return { children: new Map(), collected: [], candidates: null, above: null };
}

/** Makes the lists and links each node upwards; a list of work instead of recursion keeps the stack flat. */
function completeTree<C extends Candidate>(root: PrefixNode<C>): void {
  const work: { node: PrefixNode<C>; above: PrefixNode<C> | null }[] = [{ node: root, above: null }];
  for (let item = work.pop(); item !== undefined; item = work.pop()) {
    const { node, above } = item;
    node.above = above;
    if (node.collected.length > 0) node.candidates = new CandidateList(node.collected);
    const nearest = node.candidates === null ? above : node;
    for (const child of node.children.values()) work.push({ node: child, above: nearest });
  }
}
