import { Secret } from '../../../shared/secret.ts';
import { httpUrl } from '../../documents/http-url.ts';
import type { RemoteKeySet } from '../../ir/document.ts';
import type { McpOAuth, McpProviderKind } from '../../ir/policy/mcp-oauth.ts';
import type { Path } from '../../load/problem.ts';
import type { JwtAuthMcpSpec } from '../../schema/policy/jwt-auth.ts';
import type { McpProviderSpec } from '../../schema/policy/mcp-oauth.ts';
import type { Context } from '../context.ts';
import { documentText } from '../document.ts';
import { mcpProviderAddresses } from './mcp-provider.ts';

/** What the policy around it says: the issuer and where that stands. */
export interface McpIssuer {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly path: Path;
}

/** With the key set that follows from the issuer. Undefined after a problem, or while a file is not read yet. */
export function mcpOAuth(
  context: Context,
  spec: JwtAuthMcpSpec,
  { issuer, audiences, path: issuerPath, at }: McpIssuer & { readonly at: Path },
): { readonly oauth: McpOAuth; readonly keys: RemoteKeySet } | undefined {
  const provider = kindOf(spec.provider);
  const url = issuerUrl(context, issuer, issuerPath);
  const told = hasAudience(context, provider, { audiences, at });
  const secret = spec.clientSecret === undefined ? 'none' : readSecret(context, spec.clientSecret, at);
  if (url === undefined || !told || secret === undefined) return undefined;
  const addresses = mcpProviderAddresses(url, provider);
  const oauth: McpOAuth = {
    issuer,
    provider,
    audience: audiences[0],
    resourceMetadata: Object.fromEntries(
      Object.entries(spec.resourceMetadata).map(([name, value]) => [snakeCase(name), value]),
    ),
    metadataUrl: addresses.metadata,
    registrationUrl: addresses.registration,
    clientId: spec.clientId,
    clientSecret: secret === 'none' ? undefined : secret,
  };
  // Its older tokens name another issuer than its metadata.
  const metadata = provider === 'entra' ? undefined : { url: addresses.metadata, issuer };
  return { oauth, keys: { kind: 'remote', content: 'keySet', url: addresses.keys, metadata } };
}

function kindOf(spec: McpProviderSpec | undefined): McpProviderKind | undefined {
  if (spec === undefined) return undefined;
  // `as`: the schema has no other keys, and exactly one of them.
  return Object.keys(spec).find((key) => spec[key as McpProviderKind] !== undefined) as McpProviderKind | undefined;
}

function issuerUrl(context: Context, issuer: string, path: Path): URL | undefined {
  const url = httpUrl(issuer);
  if ('href' in url) return new URL(url.href);
  context.report(path, 'GW_CONFIG_VALUE', `the address ${url.problem}`, {
    hint: 'metadata and keys are asked for below the address of the issuer',
  });
  return undefined;
}

/** Without an audience it gives tokens that only it can read. */
function hasAudience(
  context: Context,
  provider: McpProviderKind | undefined,
  { audiences, at }: { readonly audiences: readonly string[]; readonly at: Path },
): boolean {
  if (provider !== 'auth0' || audiences.length > 0) return true;
  context.report([...at, 'provider'], 'GW_CONFIG_MISSING', '`provider: {auth0: {}}` needs `audiences`', {
    hint: 'without an audience it issues opaque tokens, which nobody else can verify',
  });
  return false;
}

function readSecret(context: Context, spec: NonNullable<JwtAuthMcpSpec['clientSecret']>, at: Path): Secret | undefined {
  const path = [...at, 'clientSecret'];
  const document = documentText(context, spec, path);
  if (document?.kind !== 'text') return undefined;
  const secret = document.text.trim();
  if (secret !== '') return new Secret(secret);
  context.report(path, 'GW_CONFIG_VALUE', 'the client secret is empty');
  return undefined;
}

/** `scopesSupported` becomes `scopes_supported` (RFC 9728 section 2 names them so). */
function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? '' : '_') + letter.toLowerCase());
}
