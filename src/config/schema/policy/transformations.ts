import { z } from 'zod';
import { object } from '../build.ts';
import { cel, celMap, headerName } from '../scalars.ts';
import { conditionalList } from './conditional.ts';

const step = object(
  'Applied in the order metadata, replace, add, set, remove, body.',
  {
    metadata: celMap('Values that later expressions see as `metadata`.').optional(),
    replace: cel.optional().describe('Map of all headers.'),
    add: celMap('Headers appended, by name.').optional(),
    set: celMap('Headers replaced, by name; pseudo headers too.').optional(),
    remove: z.array(headerName).default([]),
    body: cel.optional(),
  },
  'Transformation',
);

const shape = { request: step.optional(), response: step.optional() };

/** Transformations of a backend, which know no conditional form. */
export const plainTransformations = object('Changes headers and bodies by expressions.', shape);

/** `transformations`: changes headers and bodies by expressions. */
export const transformations = object(
  'Changes headers and bodies by expressions.',
  { ...shape, conditional: conditionalList(shape).optional() },
  'Transformations',
);
