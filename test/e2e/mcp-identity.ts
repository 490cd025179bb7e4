/** A real OpenID provider as MCP clients need one: it registers them, and its access tokens are JSON Web Tokens. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import OidcProvider from 'oidc-provider';

import { quietly } from './openid.ts';

export const AUDIENCE = 'mcp-api';
export const CALLBACK = 'https://client.test/callback';
export const ENTRA_SECRET = 'the secret that only the gateway and the provider know';

export interface McpIdentity {
  readonly issuer: string;
  /** Method, path and query of what was asked for. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

export interface Layout {
  /** Path of the issuer. */
  readonly path: string;
  /** Where documents are asked for that the library has elsewhere; behind the origin. */
  readonly moved?: Readonly<Record<string, string>>;
  /** Paths below the issuer. */
  readonly routes?: Readonly<Record<string, string>>;
  /** Refuses `resource`, and has one confidential client. */
  readonly likeEntra?: boolean;
}

const key = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' });

/** With a public client `known`, and others as they register. */
export async function startIdentity({
  path,
  moved = {},
  routes = {},
  likeEntra = false,
}: Layout): Promise<McpIdentity> {
  let handle: RequestListener = (_request, response) => response.end();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [at = '', query] = (request.url ?? '').split('?');
    if (likeEntra && new URLSearchParams(query).has('resource')) {
      response.writeHead(400).end('AADSTS9010010: The resource parameter is not supported');
      return;
    }
    mounted(request, moved[at] ?? request.url ?? '', path);
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // `as`: a TCP server that listens has an address with a port.
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}${path}`;
  const provider = quietly(() => new OidcProvider(issuer, settings(routes, likeEntra)));
  handle = provider.callback();
  return {
    issuer,
    asked,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The library finds out by `originalUrl` where it is mounted. */
function mounted(request: IncomingMessage, url: string, path: string): void {
  Object.assign(request, { originalUrl: url });
  request.url = url.startsWith(path) ? url.slice(path.length) || '/' : url;
}

type Settings = NonNullable<ConstructorParameters<typeof OidcProvider>[1]>;

function settings(routes: Readonly<Record<string, string>>, likeEntra: boolean): Settings {
  const known = { client_id: 'known', redirect_uris: [CALLBACK], grant_types: ['authorization_code', 'refresh_token'] };
  return {
    clients: [
      likeEntra
        ? { ...known, client_secret: ENTRA_SECRET, token_endpoint_auth_method: 'client_secret_post' }
        : { ...known, token_endpoint_auth_method: 'none' },
    ],
    clientAuthMethods: ['none', 'client_secret_post'],
    jwks: { keys: [{ ...key, kid: 'provider-key', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a', 'b'] },
    pkce: { required: () => true },
    routes,
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, IdToken: 600, RefreshToken: 600 },
    scopes: ['openid', 'mcp'],
    issueRefreshToken: () => true,
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      registration: { enabled: !likeEntra },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => 'https://default.test/',
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: 'mcp',
          audience: AUDIENCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  };
}
