import type {
  JwtProvider,
  KeySetSource,
  Oidc,
  RemoteDiscovery,
  TokenEndpointAuth,
} from '../../../src/config/ir/index.ts';
import { TokenVerifier, tokenVerifier, type WallClock } from '../../jwt/verifier.ts';
import type { PolicyDeps } from '../contract.ts';

/** Where the provider is reached now, and what verifies its tokens. */
export interface Provider {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly tokenEndpointAuth: TokenEndpointAuth;
  readonly verifier: TokenVerifier;
}

/** Tells the provider as it is now; null while its discovery document is not there. */
export type CurrentProvider = () => Provider | null;

export function currentProvider(spec: Oidc, deps: PolicyDeps, now: WallClock | undefined): CurrentProvider {
  const { provider } = spec;
  if (provider.kind === 'remote') return discovered(spec, provider, deps, now);
  const trusted = trustedBy(spec, provider.keys);
  // One for all routes with this policy, unless a test brings its own time.
  const verifier =
    now === undefined ? tokenVerifier([trusted], deps) : new TokenVerifier([trusted], deps.resources, now);
  const { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth } = provider;
  const fixed: Provider = { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, verifier };
  return () => fixed;
}

/** Follows the document: a provider may move its endpoints and its key set. */
function discovered(
  spec: Oidc,
  document: RemoteDiscovery,
  deps: PolicyDeps,
  now: WallClock | undefined,
): CurrentProvider {
  const live = deps.resources.discovery(document);
  let version = 0;
  let provider: Provider | null = null;
  return () => {
    if (live.version === version) return provider;
    version = live.version;
    const metadata = live.current;
    if (metadata === null) return (provider = null);
    const { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, jwksUri } = metadata;
    const keys = { kind: 'remote', content: 'keySet', url: jwksUri } as const;
    const verifier = new TokenVerifier([trustedBy(spec, keys)], deps.resources, now);
    return (provider = { authorizationEndpoint, tokenEndpoint, tokenEndpointAuth, verifier });
  };
}

/** OpenID Connect Core 1.0, section 3.1.3.7. */
function trustedBy({ issuer, clientId }: Oidc, keys: KeySetSource): JwtProvider {
  return { issuer, audiences: [clientId], requiredClaims: ['exp'], keys };
}
