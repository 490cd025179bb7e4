import { z } from 'zod';
import { object } from '../build.ts';
import { fileInlineOrRemote, secretText } from '../scalars.ts';
import { authMode, jwtValidationOptions } from './jwt-auth.ts';
import { credentialLocation } from './credential-location.ts';

const none = object('No settings.', {}).optional();

/** `mcpAuthentication`: OAuth for MCP clients. */
export const mcpAuthentication = object(
  'OAuth for MCP clients.',
  {
    issuer: z.string().min(1),
    audiences: z.array(z.string().min(1)).min(1).max(64),
    provider: object('Identity provider with needs of its own; exactly one key.', {
      auth0: none,
      keycloak: none,
      okta: none,
      descope: none,
      authentik: none,
      entra: none,
    }).optional(),
    resourceMetadata: z.record(z.string(), z.unknown()).describe('Published as the protected resource metadata.'),
    jwks: fileInlineOrRemote.optional(),
    mode: authMode.default('strict'),
    authorizationLocation: credentialLocation.optional(),
    jwtValidationOptions: jwtValidationOptions.optional(),
    clientId: z.string().optional(),
    clientSecret: secretText.optional(),
  },
  'McpAuthentication',
);
