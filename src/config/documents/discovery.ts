import type { TokenEndpointAuth } from '../ir/policy/oidc.ts';
import { httpUrl } from './http-url.ts';

/** What an OpenID provider says of itself, as far as a login needs it. */
export interface Discovery {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly jwksUri: string;
  readonly tokenEndpointAuth: TokenEndpointAuth;
}

/** Reads the discovery document of an issuer; a text says what is wrong with it. */
export function readDiscovery(text: string, issuer: string): Discovery | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (!isMap(parsed)) return 'it is not a JSON object';
  if (parsed['issuer'] !== issuer)
    return `it is of the issuer ${shown(parsed['issuer'])}, not of ${JSON.stringify(issuer)}`;
  const authorization = endpoint(parsed, 'authorization_endpoint');
  const token = endpoint(parsed, 'token_endpoint');
  const jwks = endpoint(parsed, 'jwks_uri');
  const problem = authorization.problem ?? token.problem ?? jwks.problem;
  if (problem !== null) return problem;
  const tokenEndpointAuth = authOf(parsed['token_endpoint_auth_methods_supported']);
  if (tokenEndpointAuth === undefined)
    return 'its token endpoint takes a client secret neither by basic authentication nor in the form';
  return {
    issuer,
    authorizationEndpoint: authorization.url,
    tokenEndpoint: token.url,
    jwksUri: jwks.url,
    tokenEndpointAuth,
  };
}

/** Where the metadata of an issuer (RFC 8414 section 2) say that its keys are; an error says what is wrong with them. */
export function jwksUriOf(text: string, issuer: string): string {
  const parsed: unknown = JSON.parse(text);
  if (!isMap(parsed)) throw new Error('it is not a JSON object');
  if (parsed['issuer'] !== issuer) throw new Error(`it is of the issuer ${shown(parsed['issuer'])}`);
  const { url, problem } = endpoint(parsed, 'jwks_uri');
  if (problem !== null) throw new Error(problem);
  return url;
}

interface Endpoint {
  readonly url: string;
  readonly problem: string | null;
}

function endpoint(metadata: Readonly<Record<string, unknown>>, name: string): Endpoint {
  const value = metadata[name];
  if (typeof value !== 'string') return { url: '', problem: `it has no \`${name}\`` };
  const url = httpUrl(value);
  return 'problem' in url ? { url: '', problem: `its \`${name}\` ${url.problem}` } : { url: url.href, problem: null };
}

/** Absent means basic (OpenID Connect Discovery 1.0, section 3). */
function authOf(methods: unknown): TokenEndpointAuth | undefined {
  if (methods === undefined) return 'clientSecretBasic';
  if (!Array.isArray(methods)) return undefined;
  if (methods.includes('client_secret_basic')) return 'clientSecretBasic';
  return methods.includes('client_secret_post') ? 'clientSecretPost' : undefined;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 200)) : 'that it does not name';
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
