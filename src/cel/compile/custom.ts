import type { Expr } from '../syntax/ast.ts';
import { CelError, type Result, type Value } from '../value/value.ts';
import type { Frame } from './frame.ts';

/** A function that the configuration defines. */
export class CustomFunction {
  readonly name: string;
  /** `this.name(…)`: called as a method, with `this` as the first parameter. */
  readonly receiver: boolean;
  readonly params: readonly string[];
  /** The last parameter takes all arguments that are left, as a list. */
  readonly variadic: boolean;
  readonly body: Expr;

  constructor(def: Pick<CustomFunction, 'name' | 'receiver' | 'params' | 'variadic' | 'body'>) {
    this.name = def.name;
    this.receiver = def.receiver;
    this.params = def.params;
    this.variadic = def.variadic;
    this.body = def.body;
  }

  /** What is wrong with a number of arguments, the receiver included. */
  wrongCount(count: number): string | null {
    const wanted = this.variadic ? this.params.length - 1 : this.params.length;
    if (this.variadic ? count >= wanted : count === wanted) return null;
    const own = this.receiver ? 1 : 0;
    return `no such overload: ${this.name}() takes ${this.variadic ? 'at least ' : ''}${wanted - own} arguments, not ${count - own}`;
  }

  /** Puts arguments into the first slots of the body's frame; gives the failure of the first that failed. */
  bind<C>(frame: Frame<C>, args: readonly Result[]): CelError | null {
    const values: Value[] = [];
    for (const arg of args) {
      if (arg instanceof CelError) return arg;
      values.push(arg);
    }
    const single = this.variadic ? this.params.length - 1 : this.params.length;
    for (let i = 0; i < single; i++) frame.slots[i] = values[i] ?? null;
    if (this.variadic) frame.slots[single] = values.slice(single);
    return null;
  }
}

/** All custom functions of a configuration; names are unique, and none calls itself. */
export class CustomFunctions {
  readonly #byName: ReadonlyMap<string, CustomFunction>;

  constructor(functions: readonly CustomFunction[] = []) {
    this.#byName = new Map(functions.map((fn) => [fn.name, fn]));
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  find(name: string, receiver: boolean): CustomFunction | undefined {
    const found = this.#byName.get(name);
    return found?.receiver === receiver ? found : undefined;
  }
}
