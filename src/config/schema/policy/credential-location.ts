import { z } from 'zod';
import { exactlyOne, object } from '../build.ts';
import { cel, headerName, headerValue } from '../scalars.ts';

/** RFC 6265 section 4.1.1: a cookie's name is a token. */
const cookieName = z
  .string()
  .min(1)
  .max(256)
  .regex(/^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/, { error: "expected a cookie name (letters, digits and !#$%&'*+-.^_`|~)" });

const places = {
  header: object('A header.', {
    name: headerName,
    prefix: headerValue.optional().describe('Text before the credential, such as `Bearer `; compared without case.'),
  }).optional(),
  queryParameter: object('A query parameter.', { name: z.string().min(1).max(256) }).optional(),
  cookie: object('A cookie.', { name: cookieName }).optional(),
};

/** Where a credential is read from. */
export const credentialLocation = exactlyOne(
  object(
    'Where the credential is; exactly one key.',
    { ...places, expression: cel.optional().describe('An expression that gives the credential as a text.') },
    'CredentialLocation',
  ),
  'a credential location',
  ['header', 'queryParameter', 'cookie', 'expression'],
);

/** Where a credential is written to. */
export const credentialTarget = exactlyOne(
  object('Where the credential is written to; exactly one key.', places, 'CredentialTarget'),
  'a place for a credential',
  ['header', 'queryParameter', 'cookie'],
);

export type CredentialLocationSpec = z.output<typeof credentialLocation>;
