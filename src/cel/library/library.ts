import type { FunctionDef } from '../compile/host.ts';
import { failure, Double, noOverload } from '../value/value.ts';
import { FunctionTable } from '../compile/functions.ts';
import { call } from './define.ts';
import { encoderFunctions } from './encoders.ts';
import { headerFunctions } from './headers.ts';
import { jsonFunctions } from './json.ts';
import { listFunctions } from './lists.ts';
import { mathFunctions } from './math.ts';
import { networkFunctions } from './network.ts';
import { optionalFunctions } from './optionals.ts';
import { queryFunctions } from './query.ts';
import { regexFunctions } from './regex.ts';
import { standardFunctions } from './standard.ts';
import { stringFunctions } from './strings.ts';
import { timeFunctions } from './times.ts';

/** What functions need from outside. */
export interface Chance {
  /** From 0 to 1. */
  random(): number;
  uuid(): string;
}

/** Every function there is. */
export function library(chance: Chance): FunctionTable {
  return new FunctionTable(
    merged([
      ...standardFunctions,
      ...timeFunctions,
      ...stringFunctions,
      ...mathFunctions,
      ...listFunctions,
      ...optionalFunctions,
      ...regexFunctions(),
      ...encoderFunctions,
      ...jsonFunctions,
      ...networkFunctions,
      ...queryFunctions,
      ...headerFunctions,
      { ...call('random', () => new Double(chance.random())), impure: true },
      { ...call('uuid', () => chance.uuid()), impure: true },
      call('fail', (message) => (typeof message === 'string' ? failure(message) : noOverload('fail', message))),
    ]),
  );
}

/** Functions of one name that work on different types stand side by side: the first whose types fit answers. */
function merged(defs: readonly FunctionDef[]): readonly FunctionDef[] {
  const overlapping = new Map<string, FunctionDef[]>();
  for (const def of defs) {
    const key = `${def.style} ${def.name}`;
    const same = overlapping.get(key);
    if (same === undefined) overlapping.set(key, [def]);
    else same.push(def);
  }
  return [...overlapping.values()].flatMap((same) => (same.length === 1 ? same : [sideBySide(same)]));
}

function sideBySide(defs: readonly FunctionDef[]): FunctionDef {
  const [first] = defs;
  if (first === undefined) throw new Error('no function');
  const least = Math.min(...defs.map((def) => def.arity[0]));
  const most = Math.max(...defs.map((def) => def.arity[1]));
  return {
    ...first,
    arity: [least, most],
    apply: (...args) => {
      for (const { arity, apply } of defs) {
        if (args.length < arity[0] || args.length > arity[1]) continue;
        const value = apply(...args);
        const unfit = value !== null && typeof value === 'object' && 'kind' in value && value.kind === 'overload';
        if (!unfit) return value;
      }
      return noOverload(first.name, ...args);
    },
  };
}
