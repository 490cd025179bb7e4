import { z } from 'zod';
import { object } from '../build.ts';
import { fileInlineOrRemote, shortString } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';

export const jwtValidationOptions = object('Which claims a token has to carry.', {
  requiredClaims: z.array(z.enum(['exp', 'nbf', 'aud', 'iss', 'sub'])).default(['exp']),
});

const provider = {
  issuer: shortString.describe('Compared with the claim `iss`.'),
  audiences: z
    .array(z.string().min(1))
    .min(1)
    .max(64)
    .optional()
    .describe('One of them has to be in the claim `aud`. Default: any.'),
  jwks: fileInlineOrRemote.describe('Key set that signatures are verified with.'),
  jwtValidationOptions: jwtValidationOptions.optional(),
};

export const authMode = z.enum(['strict', 'optional', 'permissive']);

/** `jwtAuth`: verifies JSON Web Tokens. Either a list of providers, or the fields of one provider directly. */
export const jwtAuth = object(
  'Verifies JSON Web Tokens; give `providers`, or the fields of one provider directly.',
  {
    mode: authMode
      .default('strict')
      .describe(
        '`strict`: a valid token is needed; `optional`: none passes, an invalid one does not; `permissive`: everything passes.',
      ),
    location: credentialLocation
      .optional()
      .describe('Where the token is. Default: the authorization header, after `Bearer `.'),
    providers: z.array(object('An issuer of tokens.', provider)).min(1).max(64).optional(),
    issuer: provider.issuer.optional(),
    audiences: provider.audiences,
    jwks: provider.jwks.optional(),
    jwtValidationOptions: provider.jwtValidationOptions,
    preserveToken: z.boolean().default(false).describe('Leaves the token in the request.'),
  },
  'JwtAuth',
);
