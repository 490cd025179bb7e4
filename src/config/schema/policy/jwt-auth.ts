import { z } from 'zod';
import { object, withRule } from '../build.ts';
import { fileInlineOrRemote, shortString } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';

export const jwtValidationOptions = object('Which claims a token has to carry.', {
  requiredClaims: z
    .array(z.enum(['exp', 'nbf', 'aud', 'iss', 'sub']))
    .default(['exp'])
    .describe(
      'Tokens without one of them are refused. `iss` is always needed; an empty list lets tokens live for ever.',
    ),
});

const providerShape = {
  issuer: shortString.describe('Compared with the claim `iss`, byte for byte.'),
  audiences: z
    .array(z.string().min(1))
    .min(1)
    .max(64)
    .optional()
    .describe('One of them has to be in the claim `aud`. Default: any.'),
  jwks: fileInlineOrRemote.describe(
    'Key set that signatures are verified with. One behind an address is fetched at load and kept fresh.',
  ),
  jwtValidationOptions: jwtValidationOptions.optional(),
};

const provider = object('An issuer of tokens.', providerShape);

export const authMode = z.enum(['strict', 'optional', 'permissive']);

const SHORT_FORM = ['issuer', 'audiences', 'jwks', 'jwtValidationOptions'];

/** `jwtAuth`: verifies JSON Web Tokens. Either a list of providers, or the fields of one provider directly. */
export const jwtAuth = withRule(
  object(
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
      providers: z.array(provider).min(1).max(64).optional(),
      issuer: providerShape.issuer.optional(),
      audiences: providerShape.audiences,
      jwks: providerShape.jwks.optional(),
      jwtValidationOptions: providerShape.jwtValidationOptions,
      preserveToken: z.boolean().default(false).describe('Leaves the token in the request.'),
    },
    'JwtAuth',
  ),
  (keys, add) => {
    if (keys['providers'] === undefined) {
      for (const name of ['issuer', 'jwks']) {
        if (keys[name] === undefined)
          add(`\`jwtAuth\` needs \`${name}\`, or \`providers\``, { code: 'GW_CONFIG_MISSING' });
      }
      return;
    }
    const extra = SHORT_FORM.find((name) => keys[name] !== undefined);
    if (extra === undefined) return;
    const message = `\`jwtAuth\` takes either \`providers\` or \`${extra}\`: move it into a provider`;
    add(message, { at: extra, code: 'GW_CONFIG_CONFLICT' });
  },
);

export type JwtAuthSpec = z.output<typeof jwtAuth>;
export type JwtProviderSpec = z.output<typeof provider>;
