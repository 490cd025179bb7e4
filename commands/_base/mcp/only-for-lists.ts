import type { GwError } from '../../../src/shared/errors.ts';
import { usageError } from '../usage-error.ts';

/** What is got by its name has more to print than that. */
export function onlyForLists(): GwError {
  return usageError('-o name prints the names of a list', 'leave the name out, or choose another output');
}
