import { z } from 'zod';
import { object } from '../build.ts';
import { fileInlineOrRemote, secretText } from '../scalars.ts';

/** `oidc`: logs users in with OpenID Connect. */
export const oidc = object(
  'Logs users in with OpenID Connect.',
  {
    issuer: z.string().min(1),
    clientId: z.string().min(1),
    clientSecret: secretText,
    redirectURI: z.string().min(1).describe('Absolute address of the callback, with a path.'),
    discovery: fileInlineOrRemote
      .optional()
      .describe('Discovery document. Default: /.well-known/openid-configuration of the issuer.'),
    authorizationEndpoint: z.string().optional(),
    tokenEndpoint: z.string().optional(),
    jwks: fileInlineOrRemote.optional(),
    tokenEndpointAuth: z.enum(['clientSecretBasic', 'clientSecretPost']).optional(),
    scopes: z.array(z.string().min(1)).default([]).describe('`openid` is always asked for.'),
  },
  'Oidc',
);
