import { z } from 'zod';
import { exactlyOne, object } from '../build.ts';
import { ratio } from '../scalars.ts';
import { SIMPLE_REF_KEYS, simpleRefShape } from '../backend-ref.ts';

/** A place that takes only simple backends. */
export const simpleRef = exactlyOne(
  object('A simple backend: exactly one of `service`, `host`, `backend`.', simpleRefShape, 'SimpleBackendRef'),
  'a backend',
  SIMPLE_REF_KEYS,
);

/** `requestMirror`: a copy of the request goes to another backend; its answer is dropped. */
export const requestMirror = object(
  'Sends a copy of the request to another backend, whose answer is dropped.',
  {
    backend: simpleRef,
    percentage: ratio.describe('Share of the requests, from 0 to 1.'),
  },
  'RequestMirror',
);

/** One mirror, or a list of them. */
export const requestMirrors = z
  .union([requestMirror, z.array(requestMirror).min(1).max(16)], {
    error: () => 'expected a mirror, or a list of mirrors',
  })
  .transform((mirrors) => (Array.isArray(mirrors) ? mirrors : [mirrors]))
  .describe(
    'Sends a copy of the request, as the policies of the route have left it, to another backend. It meets the policies of that backend (credentials, TLS, changes of headers, rules) as if a route sent it there, and its answer is dropped. A copy that a rule refuses, or that has no credentials, is not sent: scope `mirror` of the log tells.',
  );

export type SimpleRefSpec = z.output<typeof simpleRef>;
export type RequestMirrorSpec = z.output<typeof requestMirror>;
