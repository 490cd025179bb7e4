import { CelError, type Result } from '../value/value.ts';
import type { Code } from './frame.ts';

/** Code, and its value when that is the same at every evaluation. */
export interface Compiled<C> {
  readonly code: Code<C>;
  readonly constant: Result | undefined;
}

export function dynamic<C>(code: Code<C>): Compiled<C> {
  return { code, constant: undefined };
}

export function constant<C>(value: Result): Compiled<C> {
  return { code: () => value, constant: value };
}

/** Code that always fails: what can't be evaluated is told when it is, so that `default()` can step in. */
export function failing<C>(message: string, at: number, kind: CelError['kind'] = 'failed'): Compiled<C> {
  return dynamic(() => located(new CelError(kind, message), at));
}

/** Notes where a failure arose, unless that is known. */
export function located<R extends Result>(result: R, at: number): R {
  if (result instanceof CelError && result.at === -1) result.at = at;
  return result;
}
