import type { RemoteKeySet } from '../../ir/document.ts';
import type { JwtAuth, JwtProvider } from '../../ir/policy/jwt-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { JwtAuthSpec, JwtProviderSpec } from '../../schema/policy/jwt-auth.ts';
import type { Context } from '../context.ts';
import { keySet } from '../document.ts';
import { bearerLocation, credentialLocation } from './credential-location.ts';
import { mcpOAuth } from './mcp-oauth.ts';

/** Undefined after a problem, or while a key set's file is not read yet. */
export function jwtAuth(context: Context, spec: JwtAuthSpec, path: Path): JwtAuth | undefined {
  const mcp = readMcp(context, spec, path);
  if (spec.mcp !== undefined && mcp === undefined) return undefined;
  const providers =
    spec.providers === undefined
      ? [provider(context, spec, { path, keys: mcp?.keys })]
      : spec.providers.map((each, index) => provider(context, each, { path: [...path, 'providers', index] }));
  const read = providers.filter((each) => each !== undefined);
  if (read.length < providers.length) return undefined;
  return {
    mode: spec.mode,
    location: credentialLocation(spec.location, bearerLocation),
    preserveToken: spec.preserveToken,
    providers: read,
    ...(mcp === undefined ? {} : { mcp: mcp.oauth }),
  };
}

function readMcp(context: Context, spec: JwtAuthSpec, path: Path): ReturnType<typeof mcpOAuth> {
  const [first] = spec.providers ?? [];
  const { issuer, audiences = [] } = first ?? spec;
  if (spec.mcp === undefined || issuer === undefined) return undefined;
  return mcpOAuth(context, spec.mcp, {
    issuer,
    audiences,
    path: first === undefined ? [...path, 'issuer'] : [...path, 'providers', 0, 'issuer'],
    at: [...path, 'mcp'],
  });
}

function provider(
  context: Context,
  spec: { readonly [K in keyof JwtProviderSpec]?: JwtProviderSpec[K] | undefined },
  { path, keys: derived }: { readonly path: Path; readonly keys?: RemoteKeySet | undefined },
): JwtProvider | undefined {
  const { issuer, audiences = [], jwks, jwtValidationOptions } = spec;
  const keys = jwks === undefined ? derived : keySet(context, jwks, [...path, 'jwks']);
  if (issuer === undefined || keys === undefined) return undefined;
  return {
    issuer,
    audiences,
    keys,
    requiredClaims: [...new Set(jwtValidationOptions?.requiredClaims ?? (['exp'] as const))],
  };
}
