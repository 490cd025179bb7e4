import { z } from 'zod';
import { object } from '../build.ts';
import { headerMap } from '../marks.ts';
import { headerName, headerValue } from '../scalars.ts';

const values = headerMap(z.record(headerName, headerValue));

/** `requestHeaderModifier` and `responseHeaderModifier`: literal changes, applied add, set, remove. */
export const headerModifier = object(
  'Literal header changes, applied in the order add, set, remove.',
  {
    add: values.default({}).describe('Values appended to what is there.'),
    set: values.default({}).describe('Values that replace what is there.'),
    remove: z.array(headerName).default([]).describe('Names of headers to drop.'),
  },
  'HeaderModifier',
);

export type HeaderModifierSpec = z.output<typeof headerModifier>;
