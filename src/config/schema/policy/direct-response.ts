import { z } from 'zod';
import type { AddIssue } from '../build.ts';
import { bytes, cel, headerName, status } from '../scalars.ts';
import { conditionally } from './conditional.ts';

const shape = {
  status: status(200, 599).describe('Status of the answer.'),
  body: bytes.optional().describe('Body of the answer: text, or a list of byte values; at most 4096.'),
  bodyExpression: cel.optional().describe('Expression that gives the body; not together with `body`.'),
  headers: z
    .record(headerName, cel)
    .optional()
    .describe('Headers of the answer, by name; each value is an expression. What has no value is left out.'),
};

/** `directResponse`: the gateway answers by itself. */
export const directResponse = conditionally('Answers without a backend.', shape, {
  id: 'DirectResponse',
  rule: oneBody,
});

function oneBody({ body, bodyExpression }: Record<string, unknown>, add: AddIssue): void {
  if (body === undefined || body === '' || bodyExpression === undefined) return;
  add('`body` and `bodyExpression` are two ways to give the body: use only one', {
    at: 'bodyExpression',
    code: 'GW_CONFIG_CONFLICT',
  });
}

export type DirectResponseSpec = z.output<typeof directResponse>;
