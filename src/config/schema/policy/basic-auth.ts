import { z } from 'zod';
import { object } from '../build.ts';
import { secretText } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';

/** `basicAuth`: user names and passwords. */
export const basicAuth = object(
  'User names and passwords.',
  {
    htpasswd: secretText.describe('Lines of an htpasswd file.'),
    realm: z.string().optional().describe('Shown by browsers. Default: Restricted.'),
    mode: z.enum(['strict', 'optional']).default('strict'),
    authorizationLocation: credentialLocation.optional().describe('Default: the authorization header, after `Basic `.'),
  },
  'BasicAuth',
);
