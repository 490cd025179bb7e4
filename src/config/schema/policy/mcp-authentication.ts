import { z } from 'zod';
import { object, withRule } from '../build.ts';
import { fileInlineOrRemote } from '../scalars.ts';
import { authMode, jwtValidationOptions } from './jwt-auth.ts';
import { credentialLocation } from './credential-location.ts';
import { mcpOAuthShape, secretRule } from './mcp-oauth.ts';

/** `mcpAuthentication`: verifies tokens of MCP clients, and tells those without where to get one. */
export const mcpAuthentication = withRule(
  object(
    'Verifies tokens of MCP clients, and tells those without one where to get it. `jwtAuth` with `mcp` does the same.',
    {
      issuer: z.string().min(1).max(2048).describe('Compared with the claim `iss`, byte for byte.'),
      audiences: z.array(z.string().min(1)).min(1).max(64).describe('One of them has to be in the claim `aud`.'),
      ...mcpOAuthShape,
      jwks: fileInlineOrRemote
        .optional()
        .describe('Key set that signatures are verified with. Default: where the provider has it.'),
      mode: authMode
        .default('strict')
        .describe(
          '`strict`: a valid token is needed; `optional`: none passes, an invalid one does not; `permissive`: everything passes.',
        ),
      authorizationLocation: credentialLocation
        .optional()
        .describe('Where the token is. Default: the authorization header, after `Bearer `.'),
      jwtValidationOptions: jwtValidationOptions.optional(),
    },
    'McpAuthentication',
  ),
  secretRule,
);

export type McpAuthenticationSpec = z.output<typeof mcpAuthentication>;
