import { z } from 'zod';
import { object } from '../build.ts';
import { cel, headerName } from '../scalars.ts';

/** Where a credential is read from, or written to. */
export const credentialLocation = object(
  'Where the credential is; exactly one key.',
  {
    header: object('A header.', {
      name: headerName,
      prefix: z.string().optional().describe('Text before the credential, such as `Bearer `.'),
    }).optional(),
    queryParameter: object('A query parameter.', { name: z.string().min(1) }).optional(),
    cookie: object('A cookie.', { name: z.string().min(1) }).optional(),
    expression: cel.optional(),
  },
  'CredentialLocation',
);
