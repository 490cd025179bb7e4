import { z } from 'zod';

/** The name of a model as clients write it. */
export const modelName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[^*]*$/, { error: 'expected a name without `*`' });

/** A name, or a pattern with one `*` at its start or end. */
export const modelPattern = z
  .string()
  .min(1)
  .max(256)
  .regex(/^(\*?[^*]*|[^*]*\*)$/, { error: 'expected a name with at most one `*`, at its start or end' });
