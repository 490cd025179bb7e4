import type { Conditions, LazyQuery } from './condition.ts';
import { conditionsHold } from './condition.ts';
import type { RoutedRequest } from './facts.ts';
import type { Ranked } from './precedence.ts';
import { comparePrecedence } from './precedence.ts';

export interface Candidate extends Ranked {
  readonly conditions: Conditions;
}

/** Below this a scan is faster than an index (`bench/routing.ts`, the header row). */
const INDEX_FROM = 9;

interface HeaderIndex<C> {
  readonly name: string;
  readonly byValue: ReadonlyMap<string, readonly C[]>;
  /** Those that do not ask for one exact value of that header. */
  readonly rest: readonly C[];
}

/** Alternatives with the same path, in order of precedence; many that differ in one header are found by its value. */
export class CandidateList<C extends Candidate> {
  readonly #all: readonly C[];
  readonly #index: HeaderIndex<C> | null;

  constructor(sorted: readonly C[]) {
    this.#all = sorted;
    this.#index = sorted.length < INDEX_FROM ? null : indexByHeader(sorted);
  }

  first(request: RoutedRequest, query: LazyQuery): C | null {
    const index = this.#index;
    if (index === null) return firstThatHolds(this.#all, request, query);
    let best = firstThatHolds(index.rest, request, query);
    const { names, values } = request.headers;
    for (let i = names.indexOf(index.name); i !== -1; i = names.indexOf(index.name, i + 1)) {
      const same = index.byValue.get(values[i] ?? '');
      const found = same === undefined ? null : firstThatHolds(same, request, query);
      if (found !== null && (best === null || comparePrecedence(found, best) < 0)) best = found;
    }
    return best;
  }
}

function firstThatHolds<C extends Candidate>(list: readonly C[], request: RoutedRequest, query: LazyQuery): C | null {
  for (let i = 0; i < list.length; i++) {
    const candidate = list[i];
    if (candidate !== undefined && conditionsHold(candidate.conditions, request, query)) return candidate;
  }
  return null;
}

/** By the header that most of them ask for; null when less than half of them ask for the same one. */
function indexByHeader<C extends Candidate>(sorted: readonly C[]): HeaderIndex<C> | null {
  const counts = new Map<string, number>();
  for (const candidate of sorted) {
    for (const name of exactHeaders(candidate).keys()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const [name, count] = [...counts].sort((a, b) => b[1] - a[1])[0] ?? ['', 0];
  if (count * 2 < sorted.length) return null;
  const byValue = new Map<string, C[]>();
  const rest: C[] = [];
  for (const candidate of sorted) {
    const value = exactHeaders(candidate).get(name);
    const same = value === undefined ? rest : (byValue.get(value) ?? []);
    if (value !== undefined) byValue.set(value, same);
    same.push(candidate);
  }
  return { name, byValue, rest };
}

/** Real headers (not pseudo-headers, which stand elsewhere) that have to have one value. */
function exactHeaders(candidate: Candidate): Map<string, string> {
  const exact = candidate.conditions.headers.filter(
    ({ name, match }) => match.value.kind === 'exact' && name !== 'host' && !name.startsWith(':'),
  );
  return new Map(exact.map(({ name, match }) => [name, match.value.value]));
}
