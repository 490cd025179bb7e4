import type { Oidc } from '../../../src/config/ir/index.ts';
import type { VerifiedJwt } from '../../exchange/attributes.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { HttpRequest } from '../../exchange/message.ts';
import { recheck, type Rechecked } from '../../jwt/recheck.ts';
import type { WallClock } from '../../jwt/verifier.ts';
import { type Outcome, type PolicyContext, next, type RequestStep } from '../contract.ts';
import { answerOf, failed, finishLogin } from './callback.ts';
import { login } from './login.ts';
import { currentProvider, type Provider } from './provider.ts';
import { stripCookies } from './reserved-cookies.ts';
import { BrowserState } from './session.ts';

const KIND = 'oidc';

/** Lets in who has logged in, and sends everybody else to the provider. */
export function oidc(spec: Oidc, context: PolicyContext, now?: WallClock): RequestStep {
  const { deps, source } = context;
  const state = new BrowserState(spec, now ?? Date.now);
  const provider = currentProvider(spec, deps, now);
  const callbackPath = new URL(spec.redirectUri).pathname;
  const log = deps.log.scope('oidc');

  const accepted = (exchange: Exchange, jwt: VerifiedJwt): Outcome => {
    exchange.attributes.jwt = jwt;
    stripOwn(exchange, state);
    if (exchange.trace !== null)
      exchange.trace.applied(KIND, `session accepted, claims ${JSON.stringify(jwt.claims)} (from ${source})`);
    return next;
  };
  const toLogin = (exchange: Exchange, known: Provider, why: string): Outcome => {
    if (exchange.trace !== null) exchange.trace.applied(KIND, `${why}: sent to log in (from ${source})`);
    return login(exchange, spec, { provider: known, state });
  };
  const settle = (exchange: Exchange, known: Provider, verified: Rechecked): Outcome => {
    if (verified.kind === 'valid') return accepted(exchange, verified.jwt);
    if (verified.kind === 'cut') return { kind: 'fail', refusal: verified.refusal };
    return toLogin(exchange, known, `session refused, ${verified.detail}`);
  };
  const withSession = (exchange: Exchange, known: Provider, token: string): Outcome | Promise<Outcome> => {
    const { verifier } = known;
    const verified = verifier.verify(token);
    if (verified.kind !== 'unknownKey' || verified.refetch === null) return settle(exchange, known, verified);
    const { refetch } = verified;
    return recheck(exchange, { verifier, token, refetch }, deps.clock).then((again) => settle(exchange, known, again));
  };
  const decide = (exchange: Exchange): Outcome | Promise<Outcome> => {
    const known = provider();
    const answer = answerOf(exchange, callbackPath);
    if (deps.dryRun !== undefined && (known === null || answer !== null)) return notAsked(exchange, spec.issuer);
    if (known === null) return failed(500, 'the metadata of the provider are not there');
    if (answer !== null) return finishLogin(exchange, answer, { spec, provider: known, state, clock: deps.clock, log });
    const token = state.session(exchange.request.headers);
    return token === null ? toLogin(exchange, known, 'no session') : withSession(exchange, known, token);
  };

  return (exchange) => {
    if (isPreflight(exchange.request)) {
      if (exchange.trace !== null) exchange.trace.skipped(KIND, `a preflight carries no cookies (from ${source})`);
      return next;
    }
    const outcome = decide(exchange);
    if (exchange.trace === null) return outcome;
    return outcome instanceof Promise
      ? outcome.then((settled) => told(exchange, settled, source))
      : told(exchange, outcome, source);
  };
}

/** Where requests are only explained, nobody is called. */
function notAsked(exchange: Exchange, issuer: string): Outcome {
  exchange.trace?.emit({ type: 'policyEvent', kind: KIND, details: { notAsked: issuer } }, 'warn');
  return next;
}

/** Those of other policies stay: the next phase may have one of its own. */
function stripOwn({ request }: Exchange, { names }: BrowserState): void {
  stripCookies(request.headers, names.session);
  stripCookies(request.headers, names.transaction);
}

function told(exchange: Exchange, outcome: Outcome, source: string): Outcome {
  if (outcome.kind === 'fail') exchange.trace?.applied(KIND, `${outcome.refusal.message} (from ${source})`, 'error');
  return outcome;
}

/** The Fetch standard, section "CORS-preflight fetch". */
function isPreflight({ method, headers }: HttpRequest): boolean {
  return method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');
}
