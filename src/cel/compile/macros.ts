import type { Macro } from '../syntax/ast.ts';
import { compare } from '../value/compare.ts';
import { BuiltMap } from '../value/map.ts';
import {
  CelError,
  isList,
  isMap,
  noOverload,
  NONE,
  Optional,
  type CelMap,
  type Result,
  type Value,
} from '../value/value.ts';
import { located } from './compiled.ts';
import type { Compiler } from './compiler.ts';
import { exhausted, type Code, type Frame } from './frame.ts';

/** A macro whose names have slots. */
interface Parts<C> {
  readonly name: string;
  readonly target: Code<C>;
  /** One or two: the element (of a map, the key), or position and element (key and value). */
  readonly slots: readonly number[];
  readonly bodies: readonly Code<C>[];
  readonly at: number;
}

export function macroCode<C>(compiler: Compiler<C>, expr: Macro): Code<C> {
  const target = compiler.code(expr.target);
  return compiler.within(expr.vars, (slots) => {
    const bodies = expr.bodies.map((body) => compiler.code(body));
    const parts: Parts<C> = { name: expr.macro, target, slots, bodies, at: expr.start };
    switch (expr.macro) {
      case 'all':
        return quantified(parts, false);
      case 'exists':
        return quantified(parts, true);
      case 'existsOne':
        return existsOne(parts);
      case 'map':
      case 'transformList':
        return listOf(parts, bodies.length === 2 ? bodies[0] : undefined, bodies.at(-1));
      case 'filter':
        return listOf(parts, bodies[0], undefined);
      case 'transformMap':
        return mapOf(parts, bodies.length === 2 ? bodies[0] : undefined, (frame, key, map) =>
          entry(map, key, last(parts, frame)),
        );
      case 'transformMapEntry':
        return mapOf(parts, bodies.length === 2 ? bodies[0] : undefined, (frame, _, map) =>
          entries(map, last(parts, frame)),
        );
      case 'mapValues':
        return overMap(parts, (frame, { key, map }) => entry(map, key, last(parts, frame)), 'value');
      case 'filterKeys':
        return overMap(parts, (frame, kept) => keepKey(parts, frame, kept), 'key');
      case 'bind':
        return bound(parts);
      case 'optMap':
        return optional(parts, (value) => (value instanceof CelError ? value : new Optional(value)));
      case 'optFlatMap':
        return optional(parts, (value) =>
          value instanceof CelError || value instanceof Optional ? value : noOverload('optFlatMap', value),
        );
      case 'sortBy':
        return sorted(parts);
    }
  });
}

/** Puts each element into the slots and calls `each`, until that gives something. */
function iterate<C>(
  parts: Parts<C>,
  frame: Frame<C>,
  each: (item: Value, key: Value) => Result | undefined,
): Result | undefined {
  const over = parts.target(frame);
  if (over instanceof CelError) return over;
  if (isMap(over) && !frame.spend(over.weight >> 4)) return exhausted();
  const list = isList(over) ? over : isMap(over) ? over.keys() : null;
  if (list === null) return located(noOverload(parts.name, over), parts.at);
  const [first = 0, second] = parts.slots;
  for (let i = 0; i < list.length; i++) {
    if (!frame.spend(1)) return exhausted();
    const item = list[i] ?? null;
    const key = isMap(over) ? item : i;
    const value = isMap(over) && second !== undefined ? (over.get(item) ?? null) : item;
    frame.slots[first] = second === undefined ? item : key;
    if (second !== undefined) frame.slots[second] = value;
    const done = each(value, key);
    if (done !== undefined) return done;
  }
  return undefined;
}

/** `all` and `exists`: one deciding element is enough, whatever the others fail with. */
function quantified<C>(parts: Parts<C>, decisive: boolean): Code<C> {
  const [body] = parts.bodies;
  const [slot, second] = parts.slots;
  if (body === undefined || slot === undefined) throw new Error('a macro without its parts');
  const note = (failed: CelError | null, value: Result): CelError =>
    failed ?? (value instanceof CelError ? value : located(noOverload(parts.name, value), parts.at));
  // The loop of `iterate` with less in it: these two are the macros of nearly all rules.
  const quick: Code<C> = (frame) => {
    const list = parts.target(frame);
    if (list instanceof CelError || !isList(list)) return slow(frame, list);
    if (!frame.spend(list.length)) return exhausted();
    let failed: CelError | null = null;
    for (const item of list) {
      frame.slots[slot] = item;
      const value = body(frame);
      if (value === decisive) return decisive;
      if (value !== !decisive) failed = note(failed, value);
    }
    return failed ?? !decisive;
  };
  const slow = (frame: Frame<C>, over: Result): Result => {
    let failed: CelError | null = null;
    const decided = iterate({ ...parts, target: () => over }, frame, () => {
      const value = body(frame);
      if (value === decisive) return decisive;
      if (value instanceof CelError && value.kind === 'limit') return value;
      if (value !== !decisive) failed = note(failed, value);
      return undefined;
    });
    return decided ?? failed ?? !decisive;
  };
  return second === undefined ? quick : (frame) => slow(frame, parts.target(frame));
}

function existsOne<C>(parts: Parts<C>): Code<C> {
  const [body] = parts.bodies;
  return (frame) => {
    let count = 0;
    const failed = iterate(parts, frame, () => {
      const kept = isTrue(parts, body?.(frame) ?? null);
      if (kept === true) count++;
      return kept instanceof CelError ? kept : undefined;
    });
    return failed ?? count === 1;
  };
}

/** `map`, `filter`, `transformList`. */
function listOf<C>(parts: Parts<C>, filter: Code<C> | undefined, transform: Code<C> | undefined): Code<C> {
  return (frame) => {
    const list: Value[] = [];
    const failed = iterate(parts, frame, (item) => {
      const kept = filter === undefined ? true : isTrue(parts, filter(frame));
      if (kept !== true) return kept === false ? undefined : kept;
      const value = transform === undefined ? item : transform(frame);
      if (value instanceof CelError) return value;
      list.push(value);
      return undefined;
    });
    return failed ?? list;
  };
}

type AddTo<C> = (frame: Frame<C>, key: Value, map: BuiltMap) => CelError | undefined;

/** `transformMap`, `transformMapEntry`. */
function mapOf<C>(parts: Parts<C>, filter: Code<C> | undefined, add: AddTo<C>): Code<C> {
  return (frame) => {
    const map = new BuiltMap();
    const failed = iterate(parts, frame, (_, key) => {
      const kept = filter === undefined ? true : isTrue(parts, filter(frame));
      if (kept !== true) return kept === false ? undefined : kept;
      return add(frame, key, map);
    });
    return failed ?? map;
  };
}

interface Kept {
  readonly over: CelMap;
  readonly key: Value;
  readonly map: BuiltMap;
}

/** `mapValues`, `filterKeys`: over the entries of a map, with one name for the value or the key. */
function overMap<C>(
  parts: Parts<C>,
  add: (frame: Frame<C>, kept: Kept) => CelError | undefined,
  name: 'key' | 'value',
): Code<C> {
  const [slot = 0] = parts.slots;
  return (frame) => {
    const over = parts.target(frame);
    if (over instanceof CelError) return over;
    if (!isMap(over)) return located(noOverload(parts.name, over), parts.at);
    const map = new BuiltMap();
    for (const key of over.keys()) {
      if (!frame.spend(1)) return exhausted();
      frame.slots[slot] = name === 'key' ? key : (over.get(key) ?? null);
      const failed = add(frame, { over, key, map });
      if (failed !== undefined) return failed;
    }
    return map;
  };
}

function keepKey<C>(parts: Parts<C>, frame: Frame<C>, { over, key, map }: Kept): CelError | undefined {
  const kept = isTrue(parts, last(parts, frame));
  if (kept instanceof CelError) return kept;
  if (kept) map.put(key, over.get(key) ?? null);
  return undefined;
}

function bound<C>(parts: Parts<C>): Code<C> {
  const [slot = 0] = parts.slots;
  return (frame) => {
    frame.slots[slot] = parts.target(frame);
    return last(parts, frame);
  };
}

function optional<C>(parts: Parts<C>, wrap: (value: Result) => Result): Code<C> {
  const [slot = 0] = parts.slots;
  return (frame) => {
    const over = parts.target(frame);
    if (over instanceof CelError) return over;
    if (!(over instanceof Optional)) return located(noOverload(parts.name, over), parts.at);
    if (over.value === undefined) return NONE;
    frame.slots[slot] = over.value;
    return wrap(last(parts, frame));
  };
}

/** By the order of the keys that the body gives. */
function sorted<C>(parts: Parts<C>): Code<C> {
  return (frame) => {
    const items: { readonly item: Value; readonly key: Value }[] = [];
    const failed = iterate(parts, frame, (item) => {
      const key = last(parts, frame);
      if (key instanceof CelError) return key;
      const first = items[0]?.key ?? key;
      if (compare(first, key) === undefined) return located(noOverload('sortBy', first, key), parts.at);
      items.push({ item, key });
      return undefined;
    });
    return failed ?? items.sort((a, b) => compare(a.key, b.key) ?? 0).map(({ item }) => item);
  };
}

function last<C>(parts: Parts<C>, frame: Frame<C>): Result {
  return parts.bodies.at(-1)?.(frame) ?? null;
}

function isTrue<C>(parts: Parts<C>, value: Result): boolean | CelError {
  if (typeof value === 'boolean' || value instanceof CelError) return value;
  return located(noOverload(parts.name, value), parts.at);
}

function entry(map: BuiltMap, key: Value, value: Result): CelError | undefined {
  if (value instanceof CelError) return value;
  return map.add(key, value) ?? undefined;
}

function entries(map: BuiltMap, value: Result): CelError | undefined {
  if (value instanceof CelError) return value;
  if (!isMap(value)) return noOverload('transformMapEntry', value);
  for (const key of value.keys()) {
    const failed = map.add(key, value.get(key) ?? null);
    if (failed !== null) return failed;
  }
  return undefined;
}
