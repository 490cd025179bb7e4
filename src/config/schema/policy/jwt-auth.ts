import { z } from 'zod';
import { type AddIssue, object, withRule } from '../build.ts';
import { fileInlineOrRemote, shortString } from '../scalars.ts';
import { credentialLocation } from './credential-location.ts';
import { mcpOAuthShape, secretRule } from './mcp-oauth.ts';

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

const mcp = withRule(
  object(
    'Tells MCP clients without a token where to get one, and answers what they ask on the way. Needs one provider and `mode: strict`.',
    { ...mcpOAuthShape, resourceMetadata: mcpOAuthShape.resourceMetadata.default({}) },
    'JwtAuthMcp',
  ),
  secretRule,
);

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
      jwks: providerShape.jwks
        .optional()
        .describe('As in `providers`; may be left out beside `mcp`, which knows where providers have it.'),
      jwtValidationOptions: providerShape.jwtValidationOptions,
      preserveToken: z.boolean().default(false).describe('Leaves the token in the request.'),
      mcp: mcp.optional(),
    },
    'JwtAuth',
  ),
  (keys, add) => {
    mcpRule(keys, add);
    if (keys['providers'] === undefined) {
      for (const name of keys['mcp'] === undefined ? ['issuer', 'jwks'] : ['issuer']) {
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

/** One issuer is named to clients, and only a request that is refused tells them of it. */
function mcpRule(keys: Record<string, unknown>, add: AddIssue): void {
  if (keys['mcp'] === undefined) return;
  const { mode, providers } = keys;
  if (mode === 'optional' || mode === 'permissive')
    add('`mcp` needs `mode: strict`: clients look for a token when they are refused', {
      at: 'mode',
      code: 'GW_CONFIG_CONFLICT',
    });
  if (Array.isArray(providers) && providers.length > 1)
    add('`mcp` takes one provider only: it is the one that clients are sent to', {
      at: 'providers',
      code: 'GW_CONFIG_CONFLICT',
    });
}

export type JwtAuthSpec = z.output<typeof jwtAuth>;
export type JwtAuthMcpSpec = z.output<typeof mcp>;
export type JwtProviderSpec = z.output<typeof provider>;
