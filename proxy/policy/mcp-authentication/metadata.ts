import type { McpOAuth } from '../../../src/config/ir/index.ts';
import { httpUrl } from '../../../src/config/documents/http-url.ts';
import type { JsonObject } from '../../exchange/attributes.ts';
import { readObjectText } from '../../jwt/compact.ts';
import { standsIn } from './resource.ts';

/** What a provider says of itself, with the two addresses that no client can do without. */
export interface ServerMetadata {
  readonly document: JsonObject;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
}

/** Reads authorization server metadata (RFC 8414 section 2); a text says what is wrong with them. */
export function readMetadata(text: string): ServerMetadata | string {
  const document = readObjectText(text);
  if (document === null) return 'it is not a JSON object';
  if (typeof document['issuer'] !== 'string') return 'it has no `issuer`';
  const authorization = endpoint(document, 'authorization_endpoint');
  const token = endpoint(document, 'token_endpoint');
  const problem = authorization.problem ?? token.problem;
  if (problem !== null) return problem;
  return { document, authorizationEndpoint: authorization.url, tokenEndpoint: token.url };
}

function endpoint(document: JsonObject, name: string): { readonly url: string; readonly problem: string | null } {
  const value = document[name];
  if (typeof value !== 'string') return { url: '', problem: `it has no \`${name}\`` };
  const url = httpUrl(value);
  return 'problem' in url ? { url: '', problem: `its \`${name}\` ${url.problem}` } : { url: url.href, problem: null };
}

/** Addresses of the gateway as clients see them. */
export interface OwnAddresses {
  /** Of the MCP server: clients know the gateway by it. */
  readonly resource: string;
  /** Of the document; endpoints are below it. */
  readonly document: string;
}

/** The metadata as clients are to see them; a text says what is missing. */
export function publishedMetadata(spec: McpOAuth, metadata: ServerMetadata, own: OwnAddresses): JsonObject | string {
  const { document } = metadata;
  if (!standsIn(spec)) return document;
  const { signed_metadata: _signed, authorization_response_iss_parameter_supported: _iss, ...rest } = document;
  // A signature over what was changed would win over it, and no answer of the provider names the gateway (RFC 9207).
  const registration = registrationOf(spec, document, own);
  if (typeof registration === 'string') return registration;
  return { ...rest, issuer: own.resource, ...endpointsOf(spec, metadata, own), ...registration };
}

function endpointsOf(
  { provider, audience }: McpOAuth,
  { document, authorizationEndpoint }: ServerMetadata,
  own: OwnAddresses,
): JsonObject {
  switch (provider) {
    case 'auth0':
    case 'okta':
      return audience === undefined ? {} : { authorization_endpoint: withAudience(authorizationEndpoint, audience) };
    case 'entra':
      return {
        authorization_endpoint: `${own.document}/authorize`,
        token_endpoint: `${own.document}/token`,
        code_challenge_methods_supported: document['code_challenge_methods_supported'] ?? ['S256'],
      };
    default:
      return {};
  }
}

function withAudience(address: string, audience: string): string {
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  return url.href;
}

/** Clients register at the gateway wherever it has an answer of its own, or a page could not ask the provider itself. */
function registrationOf(spec: McpOAuth, document: JsonObject, own: OwnAddresses): JsonObject | string {
  const here = { registration_endpoint: `${own.document}/client-registration` };
  if (spec.clientId !== undefined) return here;
  const registers = document['registration_endpoint'] !== undefined;
  switch (spec.provider) {
    case 'keycloak':
      return registers ? here : 'it has no `registration_endpoint`';
    case 'okta':
    case 'descope':
      return registers ? here : {};
    case 'authentik':
    case 'entra':
      return here;
    default:
      return {};
  }
}
