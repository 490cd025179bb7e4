import { z } from 'zod';
import { type AddIssue, exactlyOne, object } from '../build.ts';
import { secretText } from '../scalars.ts';

const kind = (what: string) => object('No settings.', {}).optional().describe(what);

/** Identity providers that need something of their own. */
const mcpProvider = exactlyOne(
  object(
    'What the issuer is, when it needs something of its own; exactly one key. The gateway then stands in for it towards clients.',
    {
      auth0: kind('Tells the audience in a parameter of the authorization endpoint.'),
      keycloak: kind('Registers clients at `clients-registrations/openid-connect`.'),
      okta: kind('As auth0, and registers clients at `/oauth2/v1/clients`.'),
      descope: kind('Registers clients for an MCP server of a project, where the issuer is that of one.'),
      authentik: kind('Registers no clients: give `clientId`.'),
      entra: kind('Registers no clients and knows no resource indicators: the gateway passes its endpoints on.'),
    },
    'McpProvider',
  ),
  '`provider`',
  ['auth0', 'keycloak', 'okta', 'descope', 'authentik', 'entra'],
);

/** What both policies that log MCP clients in say of it. */
export const mcpOAuthShape = {
  resourceMetadata: z
    .record(z.string().min(1).max(256), z.unknown())
    .describe(
      'Published as the protected resource metadata, keys in snake case; stands above what the gateway says itself. `resource` is the public address of the MCP server.',
    ),
  provider: mcpProvider.optional(),
  clientId: z
    .string()
    .min(1)
    .optional()
    .describe('Clients that want to register get this client; nothing is registered at the provider.'),
  clientSecret: secretText
    .optional()
    .describe('Added to what clients with `clientId` send to the token endpoint of `provider: {entra: {}}`.'),
};

/** A secret is of use only where token requests come through the gateway. */
export function secretRule(keys: Record<string, unknown>, add: AddIssue): void {
  if (keys['clientSecret'] === undefined) return;
  const { provider, clientId } = keys;
  const isEntra = typeof provider === 'object' && provider !== null && 'entra' in provider;
  if (!isEntra)
    add('`clientSecret` belongs to `provider: {entra: {}}`: token requests of others do not come here', {
      at: 'clientSecret',
      code: 'GW_CONFIG_CONFLICT',
    });
  else if (clientId === undefined)
    add('`clientSecret` needs `clientId`, whose secret it is', { code: 'GW_CONFIG_MISSING' });
}

export type McpProviderSpec = z.output<typeof mcpProvider>;
