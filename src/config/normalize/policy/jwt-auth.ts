import type { JwtAuth, JwtProvider } from '../../ir/policy/jwt-auth.ts';
import type { Path } from '../../load/problem.ts';
import type { JwtAuthSpec, JwtProviderSpec } from '../../schema/policy/jwt-auth.ts';
import type { Context } from '../context.ts';
import { keySet } from '../document.ts';
import { bearerLocation, credentialLocation } from './credential-location.ts';

/** Undefined after a problem, or while a key set's file is not read yet. */
export function jwtAuth(context: Context, spec: JwtAuthSpec, path: Path): JwtAuth | undefined {
  const providers =
    spec.providers === undefined
      ? [provider(context, spec, path)]
      : spec.providers.map((each, index) => provider(context, each, [...path, 'providers', index]));
  const read = providers.filter((each) => each !== undefined);
  if (read.length < providers.length) return undefined;
  return {
    mode: spec.mode,
    location: credentialLocation(spec.location, bearerLocation),
    preserveToken: spec.preserveToken,
    providers: read,
  };
}

function provider(
  context: Context,
  spec: { readonly [K in keyof JwtProviderSpec]?: JwtProviderSpec[K] | undefined },
  path: Path,
): JwtProvider | undefined {
  const { issuer, audiences = [], jwks, jwtValidationOptions } = spec;
  if (issuer === undefined || jwks === undefined) return undefined;
  const keys = keySet(context, jwks, [...path, 'jwks']);
  if (keys === undefined) return undefined;
  return {
    issuer,
    audiences,
    keys,
    requiredClaims: [...new Set(jwtValidationOptions?.requiredClaims ?? (['exp'] as const))],
  };
}
