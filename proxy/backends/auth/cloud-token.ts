import type { Exchange } from '../../exchange/exchange.ts';
import { splitAuthority } from '../../exchange/message.ts';
import type { PolicyDeps } from '../../policy/contract.ts';
import type { Cloud } from './cloud.ts';
import type { CredentialKind } from './contract.ts';
import { writeToken } from './fetched.ts';
import { bearerTarget, compileInserter } from './insert.ts';
import { type Expiring, TokenCache } from './token-cache.ts';

/** Where the state of a definition is kept, and what it calls. */
export interface CloudDeps {
  readonly deps: PolicyDeps;
  readonly cloud: Cloud;
  /** Identity of the definition. */
  readonly key: string;
}

export interface CloudToken {
  /** For traces: which credential. */
  readonly what: string;
  /** What tokens differ by: scope or audience. */
  scopeOf(exchange: Exchange): string;
  fetch(scope: string): Promise<Expiring<string>>;
}

/** As many as one definition needs: a scope is fixed, audiences may come from requests. */
const MAX_TOKENS = 1024;
/** Tokens are fetched again this long before they end, while they are used still; */
const REFRESH_MS = 60_000;
/** and are not used for so long before. */
const MARGIN_MS = 10_000;
const UNTIMED_MS = 300_000;

/** Writes a token of a cloud into the authorization header. */
export function cloudToken({ what, scopeOf, fetch }: CloudToken, { deps, key }: CloudDeps): CredentialKind {
  const inserter = compileInserter(bearerTarget);
  const write = inserter.insert.bind(inserter);
  const settings = { maxEntries: MAX_TOKENS, defaultTtlMs: UNTIMED_MS, marginMs: MARGIN_MS, refreshMs: REFRESH_MS };
  const cache = deps.stores.get(`${key} tokens`, () => new TokenCache<string>(settings));
  return {
    details: `${what} in ${inserter.place}`,
    apply: (exchange) => {
      const scope = scopeOf(exchange);
      const token = cache.get(scope, () => fetch(scope));
      return writeToken(token, exchange, { clock: deps.clock, write });
    },
  };
}

/** The name of the backend as the request will have it, without a port. */
export function hostOf({ request, authorityDecided }: Exchange, backendHost: string | undefined): string {
  if (!authorityDecided && backendHost !== undefined) return backendHost;
  return splitAuthority(request.authority).host.toLowerCase();
}
