import type { Oidc } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import type { Log } from '../../../src/shared/log.ts';
import { readParameter } from '../../credentials/query.ts';
import type { VerifiedJwt } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { Headers } from '../../exchange/headers.ts';
import { pathOf } from '../../exchange/message.ts';
import { type Refusal, refuse } from '../../exchange/refusal.ts';
import { type Clock, clientLeft, requestTimeout, settledWithin } from '../../exchange/wait.ts';
import { readObject } from '../../jwt/compact.ts';
import { recheck } from '../../jwt/recheck.ts';
import type { Outcome } from '../contract.ts';
import { redirect } from './login.ts';
import type { Provider } from './provider.ts';
import { type BrowserState, sameText, type Transaction } from './session.ts';
import { exchangeCode } from './token-exchange.ts';

const MAX_STATE = 1024;
const TRANSACTION_ID = /^[\w-]{43}$/;
/** RFC 6749 appendix A.7. */
const ERROR_WORD = /^[\u0020\u0021\u0023-\u005b\u005d-\u007e]{1,100}$/;

/** What a provider sends a browser back with. */
export interface Answer {
  readonly state: string;
  readonly code: string | null;
  readonly error: string | null;
  /** Who answers (RFC 9207), where the provider says so. */
  readonly issuer: string | null;
}

/** The answer of a provider, when the request is a callback; null otherwise. */
export function answerOf({ request }: Exchange, callbackPath: string): Answer | null {
  const { target } = request;
  if (request.method !== 'GET' || pathOf(target) !== callbackPath) return null;
  const state = readParameter(target, 'state');
  const code = readParameter(target, 'code');
  const error = readParameter(target, 'error');
  if (state === null || (code === null && error === null)) return null;
  return { state, code, error, issuer: readParameter(target, 'iss') };
}

export interface CallbackDeps {
  readonly spec: Oidc;
  readonly provider: Provider;
  readonly state: BrowserState;
  readonly clock: Clock;
  readonly log: Log;
}

/** How a login ends: with a session and the way back to where it began, or with a refusal. */
export function finishLogin(exchange: Exchange, answer: Answer, deps: CallbackDeps): Outcome | Promise<Outcome> {
  const begun = transactionOf(exchange, answer, deps.state);
  if (typeof begun === 'string') return failed(400, begun);
  const forget = deps.state.forget(deps.state.names.transaction + begun.transactionId);
  if (answer.issuer !== null && answer.issuer !== deps.spec.issuer)
    return failed(400, 'the answer is of another issuer', forget);
  if (answer.error !== null || answer.code === null) {
    const error = answer.error !== null && ERROR_WORD.test(answer.error) ? ` "${answer.error}"` : '';
    return failed(400, `the provider refused the login${error}`, forget);
  }
  return new Login(exchange, deps, { transaction: begun, forget }).finish(answer.code);
}

/** The login that the answer belongs to; a text says why there is none. */
function transactionOf({ request }: Exchange, { state }: Answer, browser: BrowserState): Transaction | string {
  const parts = state.length > MAX_STATE ? null : readObject(state);
  const { transactionId, csrfState } = parts ?? {};
  if (typeof transactionId !== 'string' || typeof csrfState !== 'string' || !TRANSACTION_ID.test(transactionId))
    return 'the state of the callback is malformed';
  const begun = browser.transaction(request.headers, transactionId);
  if (begun === null) return 'there is no such login under way in this browser, or it took too long';
  return sameText(begun.csrfState, csrfState) ? begun : 'the state of the callback does not belong to this login';
}

type Step<T> = { readonly kind: 'done'; readonly value: T } | { readonly kind: 'ended'; readonly outcome: Outcome };

/** The part of a callback that waits for the provider. */
class Login {
  readonly #exchange: Exchange;
  readonly #deps: CallbackDeps;
  readonly #transaction: Transaction;
  /** The `Set-Cookie` that ends the transaction, whatever comes of it. */
  readonly #forget: string;

  constructor(exchange: Exchange, deps: CallbackDeps, begun: { transaction: Transaction; forget: string }) {
    this.#exchange = exchange;
    this.#deps = deps;
    this.#transaction = begun.transaction;
    this.#forget = begun.forget;
  }

  async finish(code: string): Promise<Outcome> {
    const traded = await this.#trade(code);
    if (traded.kind === 'ended') return traded.outcome;
    const verified = await this.#verify(traded.value);
    if (verified.kind === 'ended') return verified.outcome;
    const { claims } = verified.value;
    const { state, spec } = this.#deps;
    if (typeof claims['nonce'] !== 'string' || !sameText(claims['nonce'], this.#transaction.nonce))
      return failed(400, 'the ID token was made for another login', this.#forget);
    if (claims['azp'] !== undefined && claims['azp'] !== spec.clientId)
      return failed(500, 'the ID token was made for another client', this.#forget);
    const { exp } = claims;
    const session = state.startSession(traded.value, typeof exp === 'number' ? exp : 0);
    if (session === null) return failed(500, 'the ID token does not fit into a cookie', this.#forget);
    return redirect(this.#transaction.originalUri, [session, this.#forget]);
  }

  async #trade(code: string): Promise<Step<string>> {
    const { spec, provider, clock, log } = this.#deps;
    const stop = new AbortController();
    const trace = this.#exchange.trace?.scoped('oidc') ?? null;
    const { pkceVerifier } = this.#transaction;
    const trading = exchangeCode(spec, provider, { code, pkceVerifier }, { signal: stop.signal, trace });
    const how = await settledWithin(this.#exchange, trading, clock);
    if (how !== 'settled') {
      trading.catch(() => {});
      stop.abort();
      return ended(how === 'deadline' ? requestTimeout : clientLeft);
    }
    try {
      return { kind: 'done', value: await trading };
    } catch (error) {
      log.warn('the code of a login could not be exchanged', { issuer: spec.issuer, error: messageOf(error) });
      return { kind: 'ended', outcome: failed(500, 'the token exchange failed', this.#forget) };
    }
  }

  async #verify(token: string): Promise<Step<VerifiedJwt>> {
    const { provider, clock, spec, log } = this.#deps;
    const { verifier } = provider;
    let verified: Awaited<ReturnType<typeof recheck>> = verifier.verify(token);
    if (verified.kind === 'unknownKey' && verified.refetch !== null)
      verified = await recheck(this.#exchange, { verifier, token, refetch: verified.refetch }, clock);
    if (verified.kind === 'valid') return { kind: 'done', value: verified.jwt };
    if (verified.kind === 'cut') return ended(verified.refusal);
    log.warn('the ID token of a login was not accepted', { issuer: spec.issuer, error: verified.detail });
    return { kind: 'ended', outcome: failed(500, 'the ID token is not valid', this.#forget) };
  }
}

function ended(refusal: Refusal): Step<never> {
  return { kind: 'ended', outcome: { kind: 'fail', refusal } };
}

/** The documented refusal; `cookie` is set with it. */
export function failed(status: 400 | 500, detail: string, cookie?: string): Outcome {
  const refusal = refuse(status, 'Oidc', `oidc failure: ${detail}`);
  if (cookie === undefined) return { kind: 'fail', refusal };
  const headers = Headers.from([
    ['cache-control', 'no-store'],
    ['set-cookie', cookie],
  ]);
  return { kind: 'fail', refusal: { ...refusal, headers } };
}
