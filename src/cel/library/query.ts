import type { FunctionDef } from '../compile/host.ts';
import { noOverload, noSuchKey, type Result, type Value } from '../value/value.ts';
import { method, slow } from './define.ts';
import { formEncode, formPairs } from './encoders.ts';

/** The query of a URI or of a path with a query. */
export const queryFunctions: readonly FunctionDef[] = [
  slow(8, method('query', query)),
  slow(
    8,
    method('addQuery', (uri, name, value) =>
      changed('addQuery', [uri, name, value], (pairs, pair) => [...pairs, pair]),
    ),
  ),
  slow(
    8,
    method('setQuery', (uri, name, value) => changed('setQuery', [uri, name, value], replaced)),
  ),
];

type Pair = readonly [name: string, value: string];

interface Split {
  readonly before: string;
  readonly query: string;
  readonly fragment: string;
}

function splitUri(uri: string): Split {
  const hash = uri.indexOf('#');
  const bare = hash === -1 ? uri : uri.slice(0, hash);
  const mark = bare.indexOf('?');
  return {
    before: mark === -1 ? bare : bare.slice(0, mark),
    query: mark === -1 ? '' : bare.slice(mark + 1),
    fragment: hash === -1 ? '' : uri.slice(hash),
  };
}

/** Every value of a parameter. */
function query(uri: Value, name: Value): Result {
  if (typeof uri !== 'string' || typeof name !== 'string') return noOverload('query', uri, name);
  const values = formPairs(splitUri(uri).query).flatMap(([key, value]) => (key === name ? [value] : []));
  return values.length === 0 ? noSuchKey(name) : values;
}

function changed(
  name: string,
  [uri, key, value]: readonly [Value, Value, Value],
  change: (pairs: readonly Pair[], pair: Pair) => readonly Pair[],
): Result {
  if (typeof uri !== 'string' || typeof key !== 'string' || typeof value !== 'string') {
    return noOverload(name, uri, key, value);
  }
  const { before, query: text, fragment } = splitUri(uri);
  const pairs = change(text === '' ? [] : formPairs(text), [key, value]);
  return `${before}?${pairs.map(([parameter, item]) => `${formEncode(parameter)}=${formEncode(item)}`).join('&')}${fragment}`;
}

/** At the place of the first of that name, or behind the others. */
function replaced(pairs: readonly Pair[], pair: Pair): readonly Pair[] {
  const first = pairs.findIndex(([name]) => name === pair[0]);
  if (first === -1) return [...pairs, pair];
  return pairs.flatMap((old, i) => (i === first ? [pair] : old[0] === pair[0] ? [] : [old]));
}
