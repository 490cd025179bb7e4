/** A gateway that MCP clients log in at, with a simulated provider of any kind. */
import type { Signer } from '../proxy/jwt/tokens.ts';
import {
  ask,
  type Answer,
  type Ask,
  type Cleanup,
  echo,
  type RunningGateway,
  startGateway,
  upstream,
} from './gateway.ts';
import { IdentityProvider } from './identity-provider.ts';

export const RESOURCE = '/.well-known/oauth-protected-resource';
export const SERVER = '/.well-known/oauth-authorization-server';
export const JSON_RPC = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';

export interface Kind {
  /** Behind the origin. */
  readonly issuer: string;
  readonly metadata: string;
  readonly keys: string;
}

export const KINDS: Readonly<Record<string, Kind>> = {
  none: { issuer: '/tenant', metadata: `${SERVER}/tenant`, keys: '/tenant/.well-known/jwks.json' },
  auth0: { issuer: '/', metadata: SERVER, keys: '/.well-known/jwks.json' },
  keycloak: {
    issuer: '/realms/shop',
    metadata: '/realms/shop/.well-known/openid-configuration',
    keys: '/realms/shop/protocol/openid-connect/certs',
  },
  okta: {
    issuer: '/oauth2/default',
    metadata: '/oauth2/default/.well-known/openid-configuration',
    keys: '/oauth2/default/.well-known/jwks.json',
  },
  descope: {
    issuer: '/v1/apps/agentic/P1/M1',
    metadata: '/v1/apps/agentic/P1/M1/.well-known/openid-configuration',
    keys: '/P1/.well-known/jwks.json',
  },
  authentik: {
    issuer: '/application/o/shop/',
    metadata: '/application/o/shop/.well-known/openid-configuration',
    keys: '/application/o/shop/jwks/',
  },
  entra: {
    issuer: '/tenant/v2.0',
    metadata: '/tenant/v2.0/.well-known/openid-configuration',
    keys: '/tenant/discovery/v2.0/keys',
  },
};

export interface Setup {
  /** More keys of the policy. */
  readonly more?: string;
  /** More of the metadata. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly resourceMetadata?: string;
  /** More policies of the route. */
  readonly policies?: string;
  /** More of the file. */
  readonly rest?: string;
}

export interface Site {
  readonly provider: IdentityProvider;
  readonly gateway: RunningGateway;
  readonly issuer: string;
  /** Where clients see the gateway. */
  readonly origin: string;
  readonly kind: Kind;
  readonly reached: () => number;
  readonly get: (path: string, asked?: Ask) => Promise<Answer>;
}

/** A gateway that logs in by one kind of provider, and the provider. */
export async function startSite(
  { cleanup, key }: { readonly cleanup: Cleanup; readonly key: Signer },
  name: string,
  setup: Setup = {},
): Promise<Site> {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`${name} is no kind`);
  const provider = cleanup.add(await IdentityProvider.start(key));
  const issuer = provider.origin + kind.issuer;
  provider.keysAt(kind.keys).metadataAt(kind.metadata, issuer, setup.metadata);
  let reached = 0;
  const behind = cleanup.add(
    await upstream((request, response) => {
      reached += 1;
      echo(request, response);
    }),
  );
  const { more = '', resourceMetadata = '{}', policies = '', rest = '' } = setup;
  const gateway = cleanup.add(
    await startGateway(`gateways: {default: {port: 80}}
routes:
- policies:
    ${policies}
    mcpAuthentication:
      issuer: "${issuer}"
      audiences: [api, second]
      resourceMetadata: ${resourceMetadata}
      ${name === 'none' ? '' : `provider: {${name}: {}}`}
      ${more}
  backends: [{host: "127.0.0.1:${behind.port}"}]
${rest}`),
  );
  const port = gateway.port(80);
  return {
    provider,
    gateway,
    issuer,
    // What `ask` calls the host.
    origin: 'http://shop.test',
    kind,
    reached: () => reached,
    get: (path, asked) => ask(port, path, asked),
  };
}

export function json(answer: Answer): Record<string, unknown> {
  return JSON.parse(answer.body) as Record<string, unknown>; // every document here is an object
}

export const bearer = (text: string): Ask => ({
  method: 'POST',
  headers: { authorization: `Bearer ${text}` },
  body: JSON_RPC,
});
