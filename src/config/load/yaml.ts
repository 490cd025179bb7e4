import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Node,
  type Pair,
  type ParsedNode,
  type YAMLMap,
} from 'yaml';
import type { Path } from './problem.ts';

export type Range = readonly [start: number, end: number];

/** A value with its place in the text, so that a path can be turned into a line. */
export interface Located {
  readonly value: unknown;
  readonly range: Range;
  readonly children: ReadonlyMap<string | number, { readonly key: Range; readonly node: Located }>;
  /** Values in it, repeated ones counted each time. */
  readonly size: number;
}

export interface SyntaxProblem {
  readonly range: Range;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Values a document may stand for after its aliases are followed; beyond it the text is taken for an attack. */
const MAX_SIZE = 1_000_000;
const MAX_DEPTH = 100;

/** Reads one YAML document as plain values with their places, aliases and merge keys resolved. */
export function readYaml(text: string): { readonly root: Located; readonly problems: readonly SyntaxProblem[] } {
  const reader = new Reader();
  try {
    return { root: reader.read(text), problems: reader.problems };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { root: scalar(null, [0, 0]), problems: [{ range: [0, 0], message: 'the text is nested too deeply' }] };
  }
}

/** The place of a path: of its value, or of its key. The nearest place above it when it is not there. */
export function locate(root: Located, path: Path, atKey = false): Range {
  let range = root.range;
  let node = root;
  for (const [index, part] of path.entries()) {
    const child = node.children.get(part);
    if (child === undefined) return range;
    const last = index === path.length - 1;
    range = (last && atKey) || child.node.children.size > 0 ? child.key : child.node.range;
    node = child.node;
  }
  return range;
}

class Reader {
  readonly problems: SyntaxProblem[] = [];
  readonly #anchors = new Map<string, Located>();

  read(text: string): Located {
    const document = parseDocument(text, {
      prettyErrors: false,
      strict: true,
      uniqueKeys: true,
      logLevel: 'error',
      keepSourceTokens: false,
    });
    for (const { code, message, pos } of [...document.errors, ...document.warnings])
      this.problems.push({ range: pos, ...explain(code, message) });
    if (document.errors.length > 0 || document.contents === null) return scalar(null, [0, 0]);
    return this.#node(document.contents, 0);
  }

  #node(node: Node | ParsedNode | null, depth: number): Located {
    const range = rangeOf(node);
    if (node === null) return scalar(null, range);
    if (depth > MAX_DEPTH) return this.#fail(range, `the text is nested deeper than ${MAX_DEPTH} levels`);
    if (isAlias(node)) return this.#alias(node.source, range);
    const located = isMap(node)
      ? this.#map(node, depth)
      : isSeq(node)
        ? this.#list(node.items, range, depth)
        : scalar(isScalar(node) ? node.value : null, range);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, located);
    return located.size > MAX_SIZE ? this.#fail(range, `aliases make this more than ${MAX_SIZE} values`) : located;
  }

  #alias(name: string, range: Range): Located {
    const target = this.#anchors.get(name);
    return target === undefined
      ? this.#fail(range, `the alias *${name} stands inside what it refers to, or before it`)
      : { ...target, range };
  }

  #list(items: readonly unknown[], range: Range, depth: number): Located {
    const children = new Map<number, { key: Range; node: Located }>();
    const value: unknown[] = [];
    let size = 1;
    for (const [index, item] of items.entries()) {
      const node = this.#node(item as Node | null, depth + 1); // a parsed sequence holds nodes
      children.set(index, { key: node.range, node });
      value.push(node.value);
      size += node.size;
    }
    return { value, range, children, size };
  }

  #map(map: YAMLMap, depth: number): Located {
    const children = new Map<string, { key: Range; node: Located }>();
    const merged: Located[] = [];
    let size = 1;
    for (const pair of map.items) {
      const { key, node } = this.#pair(pair as Pair<Node | null, Node | null>, depth); // a parsed map holds nodes
      size += node.size;
      if (key.name === '<<') merged.push(...this.#merge(node));
      else children.set(key.name, { key: key.range, node });
    }
    for (const source of merged) {
      for (const [name, child] of source.children) if (!children.has(String(name))) children.set(String(name), child);
    }
    const value = Object.fromEntries([...children].map(([name, child]) => [name, child.node.value]));
    return { value, range: rangeOf(map), children, size };
  }

  #pair(pair: Pair<Node | null, Node | null>, depth: number): { key: { name: string; range: Range }; node: Located } {
    const range = rangeOf(pair.key);
    const node = this.#node(pair.value, depth + 1);
    if (isScalar(pair.key) && pair.key.value !== null) {
      const { anchor, source, value } = pair.key;
      if (anchor !== undefined) this.#anchors.set(anchor, scalar(value, range));
      return { key: { name: typeof value === 'string' ? value : (source ?? String(value)), range }, node };
    }
    const aliased = isAlias(pair.key) ? this.#alias(pair.key.source, range).value : undefined;
    if (typeof aliased === 'string') return { key: { name: aliased, range }, node };
    this.#fail(range, 'a key has to be a text');
    return { key: { name: '', range }, node };
  }

  /** What `<<` brings in: one map, or a list of maps of which the first wins. */
  #merge(node: Located): Located[] {
    const sources = Array.isArray(node.value) ? [...node.children.values()].map((child) => child.node) : [node];
    return sources.filter((source) => {
      const fits = typeof source.value === 'object' && source.value !== null && !Array.isArray(source.value);
      if (!fits) this.#fail(source.range, '`<<` takes a map, or a list of maps');
      return fits;
    });
  }

  #fail(range: Range, message: string): Located {
    this.problems.push({ range, message });
    return scalar(null, range);
  }
}

function scalar(value: unknown, range: Range): Located {
  return { value, range, children: new Map(), size: 1 };
}

function rangeOf(node: { readonly range?: readonly number[] | null | undefined } | null): Range {
  const [start = 0, end = start] = node?.range ?? [];
  return [start, end];
}

/** The parser's problem in words that say what to do. */
function explain(code: string, message: string): { message: string; hint?: string } {
  switch (code) {
    case 'MULTIPLE_DOCS':
      return {
        message: 'the text holds several documents',
        hint: 'keep one document: remove the `---` lines between them',
      };
    case 'TAB_AS_INDENT':
      return { message: 'a tab is used for indentation', hint: 'YAML is indented with spaces' };
    case 'DUPLICATE_KEY':
      return { message: 'the key stands twice in one map', hint: 'keep one of the two' };
    case 'TAG_RESOLVE_FAILED':
      return { message: 'tags such as !!name are not supported here', hint: 'remove the tag' };
    default:
      return { message: message.charAt(0).toLowerCase() + message.slice(1) };
  }
}
