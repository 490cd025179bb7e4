import { z } from 'zod';
import { object } from '../build.ts';
import { cel } from '../scalars.ts';

/** The key `conditional` of the policies that choose their settings per request: the first entry that holds wins. */
export function conditionalList<S extends z.core.$ZodLooseShape>(shape: S) {
  const entry = object('Settings that apply when the condition holds.', { condition: cel.optional(), ...shape });
  return z
    .array(entry)
    .min(1)
    .max(64)
    .describe('The first entry whose condition is true applies; one without a condition may only be the last.');
}
