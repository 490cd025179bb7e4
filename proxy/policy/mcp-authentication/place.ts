import type { Exchange } from '../../exchange/exchange.ts';
import { pathOf } from '../../exchange/message.ts';

/** RFC 9728 section 3, RFC 8414 section 3. */
const RESOURCE = '/.well-known/oauth-protected-resource';
const SERVER = '/.well-known/oauth-authorization-server';
const ENDPOINT = /^(.*)\/(client-registration|authorize|token)$/;

/** The documents for clients, and the endpoints that the gateway has in the place of a provider's. */
export type OAuthPlace =
  | { readonly kind: 'resource' | 'server'; readonly at: PlaceAt }
  | { readonly kind: 'client-registration' | 'authorize' | 'token'; readonly at: PlaceAt };

export interface PlaceAt {
  /** Path of the MCP server that the document is about. */
  readonly resource: string;
  /** Path of the document itself. */
  readonly document: string;
}

/** What a path stands for; null is anything else. `passesOn`: the provider's endpoints are behind those of the gateway. */
export function oauthPlace(path: string, passesOn: boolean): OAuthPlace | null {
  if (!path.includes('/.well-known/oauth-')) return null;
  const protectedResource = around(path, RESOURCE);
  if (protectedResource !== null) return { kind: 'resource', at: { resource: protectedResource, document: path } };
  const [, document = '', endpoint] = ENDPOINT.exec(path) ?? [];
  if (endpoint === 'client-registration' || (passesOn && (endpoint === 'authorize' || endpoint === 'token'))) {
    const resource = around(document, SERVER);
    if (resource !== null) return { kind: endpoint, at: { resource, document } };
  }
  const server = around(path, SERVER);
  return server === null ? null : { kind: 'server', at: { resource: server, document: path } };
}

/** What is left of a path without the well-known part, which stands first; some clients put it last. */
function around(path: string, wellKnown: string): string | null {
  if (path === wellKnown || path.startsWith(`${wellKnown}/`)) return path.slice(wellKnown.length);
  return path.endsWith(wellKnown) ? path.slice(0, -wellKnown.length) : null;
}

/** How the client sees the gateway. */
export interface PublicAddress {
  /** Scheme, authority, and the part of the path that was taken away on the way to here. */
  readonly base: string;
  /** The path that belongs behind it. */
  readonly path: string;
}

/**
 * The address that the client has asked for, before anything rewrote it; `origin` stands in for scheme and authority where
 * the configuration names them.
 */
export function publicAddress(exchange: Exchange, origin: string | null): PublicAddress {
  const { request } = exchange;
  const path = pathOf(request.target);
  const asked = pathOf(exchange.clientTarget);
  const shortened = asked.length > path.length && asked.endsWith(path) && path.startsWith('/');
  const prefix = shortened ? asked.slice(0, asked.length - path.length) : '';
  const base = (origin ?? `${schemeOf(exchange)}://${exchange.clientAuthority}`) + escaped(prefix);
  return { base, path: shortened ? path : asked };
}

/** The address of a document about the path that was asked for. */
export function resourceMetadataUrl({ base, path }: PublicAddress): string {
  return `${base}${RESOURCE}${path.startsWith('/') ? escaped(path) : ''}`;
}

/** Whatever is no character of a path is encoded (RFC 3986 section 3.3): it goes into quotes and documents. */
export function escaped(path: string): string {
  return path.replace(NOT_OF_PATH, (character) => encodeURIComponent(character));
}

const NOT_OF_PATH = /[^\w\-.~!$&'()*+,;=:@%/]/g;

/** Behind a proxy that ends TLS the client's scheme is what that proxy says. */
function schemeOf({ request }: Exchange): 'http' | 'https' {
  const told = request.headers.get('x-forwarded-proto');
  const first = told?.split(',', 1)[0]?.trim().toLowerCase();
  return first === 'https' || first === 'http' ? first : request.scheme;
}
