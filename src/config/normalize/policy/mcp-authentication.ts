import type { JwtAuth } from '../../ir/policy/jwt-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { McpAuthenticationSpec } from '../../schema/policy/mcp-authentication.ts';
import type { Context } from '../context.ts';
import { keySet } from '../document.ts';
import { bearerLocation, credentialLocation } from './credential-location.ts';
import { mcpOAuth } from './mcp-oauth.ts';

/** The same as `jwtAuth` with `mcp`. Undefined after a problem, or while a file is not read yet. */
export function mcpAuthentication(
  context: Context,
  spec: McpAuthenticationSpec,
  { path, besideJwtAuth }: { readonly path: Path; readonly besideJwtAuth: boolean },
): JwtAuth | undefined {
  if (besideJwtAuth) {
    const message = '`mcpAuthentication` verifies tokens itself: it cannot stand beside `jwtAuth`';
    context.report(path, 'GW_CONFIG_CONFLICT', message, { hint: 'or write `jwtAuth` with `mcp`', atKey: true });
    return undefined;
  }
  const { issuer, audiences, jwks, jwtValidationOptions, authorizationLocation } = spec;
  const read = mcpOAuth(context, spec, { issuer, audiences, path: [...path, 'issuer'], at: path });
  const keys = jwks === undefined ? read?.keys : keySet(context, jwks, [...path, 'jwks']);
  if (read === undefined || keys === undefined) return undefined;
  const requiredClaims = [...new Set(jwtValidationOptions?.requiredClaims ?? (['exp'] as const))];
  return {
    mode: spec.mode,
    location: credentialLocation(authorizationLocation, bearerLocation),
    preserveToken: false,
    providers: [{ issuer, audiences, requiredClaims, keys }],
    mcp: read.oauth,
  };
}
