import { z } from 'zod';
import { object } from '../build.ts';
import { duration } from '../scalars.ts';

const strings = z.array(z.string().min(1)).default([]);

/** `cors`: lets browsers of other origins call. */
export const cors = object(
  'Lets pages of other origins call (Cross-Origin Resource Sharing).',
  {
    allowOrigins: strings.describe('`*`, an origin, or an origin with a wildcard such as https://*.example.com.'),
    allowMethods: strings.describe('Methods, or `*`.'),
    allowHeaders: strings.describe('Request headers, or `*`.'),
    exposeHeaders: strings.describe('Response headers that scripts may read.'),
    allowCredentials: z.boolean().default(false),
    maxAge: duration.optional().describe('How long browsers keep the answer to a preflight.'),
  },
  'Cors',
);
