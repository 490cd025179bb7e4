import type { McpProviderKind } from '../../ir/policy/mcp-oauth.ts';
import { assertNever } from '../../../shared/assert-never.ts';

/** Where a provider has what the gateway asks it for. */
export interface McpProviderAddresses {
  readonly keys: string;
  readonly metadata: string;
  /** Undefined where clients cannot register. */
  readonly registration: string | undefined;
}

/** The addresses that follow from an issuer. */
export function mcpProviderAddresses(issuer: URL, kind: McpProviderKind | undefined): McpProviderAddresses {
  const { origin } = issuer;
  const base = origin + issuer.pathname.replace(/\/+$/, '');
  const openId = `${base}/.well-known/openid-configuration`;
  const keys = `${base}/.well-known/jwks.json`;
  switch (kind) {
    case undefined:
    case 'auth0':
      // RFC 8414 section 3.1: the well-known part stands before the path of the issuer.
      return {
        keys,
        metadata: `${origin}/.well-known/oauth-authorization-server${base.slice(origin.length)}`,
        registration: clientsRegistrations(base),
      };
    case 'keycloak':
      return {
        keys: `${base}/protocol/openid-connect/certs`,
        metadata: openId,
        registration: clientsRegistrations(base),
      };
    case 'okta':
      return { keys, metadata: openId, registration: `${origin}/oauth2/v1/clients` };
    case 'descope':
      return descope(issuer, { keys, metadata: openId, registration: undefined });
    case 'authentik':
      return { keys: `${base}/jwks/`, metadata: openId, registration: undefined };
    case 'entra':
      return entra(issuer);
    default:
      return assertNever(kind);
  }
}

function clientsRegistrations(base: string): string {
  return `${base}/clients-registrations/openid-connect`;
}

/** Issuers of MCP servers are `/v1/apps/agentic/<project>/<server>`: keys are those of the project. */
function descope({ origin, pathname }: URL, plain: McpProviderAddresses): McpProviderAddresses {
  const [, project, server] = /\/agentic\/([^/]+)\/([^/]+)\/*$/.exec(pathname) ?? [];
  if (project === undefined || server === undefined) return plain;
  return {
    ...plain,
    keys: `${origin}/${project}/.well-known/jwks.json`,
    registration: `${origin}/v1/mgmt/mcp/client/${project}/${server}/register`,
  };
}

/** Tokens of the older version name an issuer at which nobody answers. */
function entra(issuer: URL): McpProviderAddresses {
  const origin = issuer.hostname === 'sts.windows.net' ? 'https://login.microsoftonline.com' : issuer.origin;
  const tenant = issuer.pathname.split('/')[1] ?? '';
  return {
    keys: `${origin}/${tenant}/discovery/v2.0/keys`,
    metadata: `${origin}/${tenant}/v2.0/.well-known/openid-configuration`,
    registration: undefined,
  };
}
