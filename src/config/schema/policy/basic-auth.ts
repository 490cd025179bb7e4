import { z } from 'zod';
import { object } from '../build.ts';
import { headerValue, secretText } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';

/** `basicAuth`: user names and passwords. */
export const basicAuth = object(
  'User names and passwords.',
  {
    htpasswd: secretText.describe(
      'Lines of an htpasswd file, `user:hash`; the hash is bcrypt, MD5 ($apr1$, $1$), SHA-2 ($5$, $6$), {SHA} or crypt.',
    ),
    realm: headerValue.max(256).optional().describe('Shown by browsers. Default: Restricted.'),
    mode: z
      .enum(['strict', 'optional'])
      .default('strict')
      .describe('`strict`: a user is needed; `optional`: none passes, a wrong one does not.'),
    authorizationLocation: credentialLocation
      .optional()
      .describe('Where the credentials are. Default: the authorization header, after `Basic `.'),
  },
  'BasicAuth',
);

export type BasicAuthSpec = z.output<typeof basicAuth>;
