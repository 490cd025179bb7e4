import { z } from 'zod';
import { object } from '../build.ts';
import { notBuilt } from '../marks.ts';
import { bytes, cel, headerName, status } from '../scalars.ts';
import { conditionalList } from './conditional.ts';

const shape = {
  status: status(200, 599).describe('Status of the answer.'),
  body: bytes.optional().describe('Body of the answer: text, or a list of byte values; at most 4096.'),
  bodyExpression: notBuilt(
    cel.describe('Expression that gives the body; not together with `body`.'),
    '`bodyExpression`',
  ),
  headers: notBuilt(
    z.record(headerName, cel).describe('Headers of the answer, by name; each value is an expression.'),
    '`headers` of a direct response',
  ),
};

/** `directResponse`: the gateway answers by itself. */
export const directResponse = object(
  'Answers without a backend.',
  {
    ...shape,
    conditional: notBuilt(conditionalList(shape), 'the conditional form of `directResponse`'),
  },
  'DirectResponse',
);

export type DirectResponseSpec = z.output<typeof directResponse>;
