import { createHash, randomBytes } from 'node:crypto';

import type { Oidc } from '../../../src/config/ir/index.ts';
import { emptyBody } from '../../exchange/body.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { pathOf } from '../../exchange/message.ts';
import type { Outcome } from '../contract.ts';
import type { Provider } from './provider.ts';
import { cookiesNamed } from './reserved-cookies.ts';
import type { BrowserState } from './session.ts';

const MAX_ORIGINAL = 2048;
/** Logins that one browser may have under way: pages that ask in vain a hundred times must not fill it with cookies. */
const MAX_TRANSACTIONS = 8;

/** Sends the browser to the provider (OpenID Connect Core 1.0, section 3.1.2.1, with RFC 7636). */
export function login(
  exchange: Exchange,
  spec: Oidc,
  { provider, state }: { provider: Provider; state: BrowserState },
): Outcome {
  const { request } = exchange;
  const transactionId = randomText();
  const csrfState = randomText();
  const nonce = randomText();
  const pkceVerifier = randomText();
  const url = new URL(provider.authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: spec.clientId,
    redirect_uri: spec.redirectUri,
    scope: spec.scopes.join(' '),
    state: Buffer.from(JSON.stringify({ transactionId, csrfState })).toString('base64url'),
    nonce,
    code_challenge: createHash('sha256').update(pkceVerifier).digest('base64url'),
    code_challenge_method: 'S256',
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  const originalUri = returnTo(request.target, new URL(spec.redirectUri).pathname);
  const old = cookiesNamed(request.headers, state.names.transaction);
  const cookies = [
    ...(old.length < MAX_TRANSACTIONS ? [] : old.slice(0, 2 * MAX_TRANSACTIONS).map((name) => state.forget(name))),
    state.startTransaction({ transactionId, csrfState, nonce, pkceVerifier, originalUri }),
  ];
  return redirect(url.href, cookies);
}

/** A redirect that nothing on the way keeps. */
export function redirect(location: string, cookies: readonly string[]): Outcome {
  const headers = Headers.from([
    ['location', location],
    ['cache-control', 'no-store'],
    ...cookies.map((cookie) => ['set-cookie', cookie] as const),
  ]);
  return { kind: 'respond', response: { status: 302, headers, body: emptyBody }, policy: 'oidc' };
}

/** A place on this host, so that no login ends somewhere else; the callback itself would only begin another login. */
export function returnTo(target: string, callbackPath: string): string {
  const local = /^\/(?![/\\])[\u0021-\u007e]*$/.test(target) && !target.includes('\\');
  return local && target.length <= MAX_ORIGINAL && pathOf(target) !== callbackPath ? target : '/';
}

/** 256 random bits. */
function randomText(): string {
  return randomBytes(32).toString('base64url');
}
