import { z } from 'zod';
import { object } from '../build.ts';
import { cel, celMap, headerName, headerOrPseudo } from '../scalars.ts';
import { conditionally } from './conditional.ts';

type Side = 'request' | 'response';

const PSEUDO: Readonly<Record<Side, readonly string[]>> = {
  request: [':method', ':scheme', ':authority', ':path'],
  response: [':status'],
};

/** Header names to expressions; of the pseudo headers, those that the message has. */
function headers(side: Side, description: string) {
  const name = headerOrPseudo.refine((key) => !key.startsWith(':') || PSEUDO[side].includes(key), {
    error: `a ${side} has ${PSEUDO[side].join(', ')} and no other pseudo headers`,
  });
  return z.record(name, cel).describe(description).optional();
}

function step(side: Side) {
  return object(
    `Changes the ${side}, in the order metadata, replace, add, set, remove, body.`,
    {
      metadata: celMap('Values that later expressions see as `metadata`.').optional(),
      replace: cel.optional().describe('A map of names to texts or lists of texts, which replaces all headers.'),
      add: headers(side, 'Headers appended, by name. What has no value is removed.'),
      set: headers(side, 'Headers replaced, by name, pseudo headers too. What has no value is removed.'),
      remove: z.array(headerName).default([]).describe('Names of headers to drop.'),
      body: cel.optional().describe('The new body: text and bytes as they are, anything else as JSON.'),
    },
    side === 'request' ? 'RequestTransformation' : 'ResponseTransformation',
  );
}

const shape = { request: step('request').optional(), response: step('response').optional() };

/** Transformations of a backend, which know no conditional form. */
export const plainTransformations = object('Changes headers and bodies by expressions.', shape);

/** `transformations`: changes headers and bodies by expressions. */
export const transformations = conditionally('Changes headers and bodies by expressions.', shape, {
  id: 'Transformations',
});

export type TransformationsSpec = z.output<typeof transformations>;
export type TransformationPairSpec = z.output<typeof plainTransformations>;
export type TransformationSpec = NonNullable<TransformationPairSpec['request']>;
