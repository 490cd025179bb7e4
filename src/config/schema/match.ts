import { z } from 'zod';
import { exactlyOne, object } from './build.ts';
import { checked } from './marks.ts';
import { headerOrPseudo } from './scalars.ts';

const pathText = z.string().min(1).max(1024).regex(/^\//, { error: 'expected a path that starts with `/`' });
const regexText = checked(
  z.string().min(1).max(1024).describe('A regular expression in RE2 syntax that has to match the whole text.'),
  'regex',
);

/** Path of a request. */
export const pathMatch = exactlyOne(
  object(
    'How the path of the request is compared.',
    {
      exact: pathText.optional().describe('The whole path, byte for byte.'),
      pathPrefix: pathText
        .optional()
        .describe('A prefix that ends on a segment boundary: /api matches /api and /api/x, not /apix.'),
      regex: regexText.optional(),
    },
    'PathMatch',
  ),
  'a path match',
  ['exact', 'pathPrefix', 'regex'],
);

const valueMatch = exactlyOne(
  object(
    'How a value is compared.',
    {
      exact: z.string().max(4096).optional().describe('The whole value, byte for byte.'),
      regex: regexText.optional(),
    },
    'ValueMatch',
  ),
  'a value match',
  ['exact', 'regex'],
);

export const headerMatch = object(
  'A header that has to be there with this value.',
  {
    name: headerOrPseudo.describe('Header name in any case, or :method, :scheme, :authority, :path, :status.'),
    value: valueMatch,
  },
  'HeaderMatch',
);

const queryMatch = object('A query parameter that has to be there with this value.', {
  name: z.string().min(1).max(256).describe('Name of the parameter, case-sensitive.'),
  value: valueMatch,
});

export const routeMatch = object(
  'One alternative: every part of it has to hold.',
  {
    path: pathMatch.optional(),
    method: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/, { error: 'expected an HTTP method such as GET' })
      .optional()
      .describe('HTTP method, case-sensitive.'),
    headers: z.array(headerMatch).default([]).describe('Headers that all have to match.'),
    query: z.array(queryMatch).default([]).describe('Query parameters that all have to match.'),
  },
  'RouteMatch',
);

export type RouteMatchSpec = z.output<typeof routeMatch>;
export type PathMatchSpec = z.output<typeof pathMatch>;
export type ValueMatchSpec = z.output<typeof valueMatch>;
