import type { FunctionTable } from './compile/functions.ts';
import { specialNames } from './compile/special.ts';
import { macroNames } from './syntax/macro.ts';

/** Whether a function of the gateway has that name, so that the configuration can't define one. */
export function isTaken(name: string, functions: FunctionTable): boolean {
  return (
    functions.hasCall(name) || functions.hasMethod(name) || specialNames.includes(name) || macroNames.includes(name)
  );
}
