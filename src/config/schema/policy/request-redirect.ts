import { z } from 'zod';
import { exactlyOne, object, withRule } from '../build.ts';
import { port, singleHostname, status } from '../scalars.ts';

const authorityText = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[!"$-.0->A-~]+$/, { error: 'expected a host, with or without a port, in ASCII' });

const authorityObject = exactlyOne(
  object('Change of the authority; exactly one key.', {
    full: authorityText.optional().describe('The whole authority, `host` or `host:port`.'),
    host: singleHostname.optional().describe('Only the host.'),
    port: port.optional().describe('Only the port.'),
  }),
  'authority',
  ['full', 'host', 'port'],
);

/** How the authority of a URL changes; shared by redirect and rewrite. */
export const authorityChange = z
  .union([z.enum(['auto', 'none']), authorityObject], {
    error: () => 'expected {full: …}, {host: …}, {port: …}, auto or none',
  })
  .meta({
    id: 'AuthorityChange',
    description: '`{full}`, `{host}`, `{port}`, `auto` (decided by the backend) or `none` (left as it is).',
  });

const pathText = z
  .string()
  .max(1024)
  .regex(/^\/[!"$->@-~]*$/, {
    error: 'expected a path that starts with `/`, without `?` or `#`, other characters than ASCII as %XX',
  });

/** How the path of a URL changes; shared by redirect and rewrite. */
export const pathChange = exactlyOne(
  object(
    'Change of the path; exactly one key.',
    {
      full: pathText.optional().describe('Replaces the whole path; the query stays.'),
      prefix: pathText.optional().describe('Replaces the prefix that the route matched; the rest stays.'),
    },
    'PathChange',
  ),
  'path',
  ['full', 'prefix'],
);

/** `requestRedirect`: answers with a redirect to a changed URL. */
export const requestRedirect = withRule(
  object(
    'Answers with a redirect; what is not given stays as in the request.',
    {
      scheme: z.enum(['http', 'https']).optional(),
      authority: authorityChange.optional(),
      path: pathChange.optional(),
      status: status(300, 399).default(302).describe('Status of the answer.'),
    },
    'RequestRedirect',
  ),
  (redirect, add) => {
    if (redirect['scheme'] === undefined && redirect['authority'] === undefined && redirect['path'] === undefined) {
      add('a redirect has to change something: give `scheme`, `authority` or `path`', { code: 'GW_CONFIG_MISSING' });
    }
  },
);

export type AuthorityChangeSpec = z.output<typeof authorityChange>;
export type PathChangeSpec = z.output<typeof pathChange>;
export type RequestRedirectSpec = z.output<typeof requestRedirect>;
