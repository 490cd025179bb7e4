import type { FunctionDef } from './host.ts';

/** Functions by name and style, looked up while compiling. */
export class FunctionTable {
  readonly #calls = new Map<string, FunctionDef[]>();
  readonly #methods = new Map<string, FunctionDef[]>();

  constructor(defs: readonly FunctionDef[]) {
    for (const def of defs) {
      if (def.style !== 'method') push(this.#calls, def);
      if (def.style !== 'call') push(this.#methods, def);
    }
  }

  call(name: string, args: number): FunctionDef | undefined {
    return this.#calls.get(name)?.find(({ arity }) => args >= arity[0] && args <= arity[1]);
  }

  method(name: string, args: number): FunctionDef | undefined {
    return this.#methods.get(name)?.find(({ arity }) => args >= arity[0] && args <= arity[1]);
  }

  /** Whether some function is called `name(…)`. */
  hasCall(name: string): boolean {
    return this.#calls.has(name);
  }

  hasMethod(name: string): boolean {
    return this.#methods.has(name);
  }

  get names(): readonly string[] {
    return [...new Set([...this.#calls.keys(), ...this.#methods.keys()])].toSorted();
  }
}

function push(table: Map<string, FunctionDef[]>, def: FunctionDef): void {
  const list = table.get(def.name);
  if (list === undefined) table.set(def.name, [def]);
  else list.push(def);
}
