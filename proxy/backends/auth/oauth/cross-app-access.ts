import { createHash } from 'node:crypto';

import type { CrossAppAccess } from '../../../../src/config/ir/index.ts';
import type { JsonObject } from '../../../exchange/attributes.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import type { CredentialKind } from '../contract.ts';
import { CallerError, CredentialError, invalidRequest } from '../failure.ts';
import { writeToken } from '../fetched.ts';
import { bearerTarget, compileInserter } from '../insert.ts';
import { tokenCache } from './cache.ts';
import { callerToken, tellWhy } from './caller-token.ts';
import { accessTokenIn, addWanted, assertionForm, assertionIn, exchangeForm, ID_JAG } from './grants.ts';
import { type CallContext, tokenEndpoint } from './token-endpoint.ts';
import type { OAuthDeps } from './token-exchange.ts';

/**
 * Trades the caller's identity for an assertion of the identity provider, and that for a token of the other application
 * (the identity assertion authorization grant). Throws a `GwError` for what can't be compiled.
 */
export function crossAppAccess(spec: CrossAppAccess, { deps, key }: OAuthDeps): CredentialKind {
  const inserter = compileInserter(bearerTarget);
  const subject = callerToken(spec.subject, deps, 'crossAppAccess subjectToken');
  const askProvider = compileIdentityProvider(spec, deps);
  const askServer = compileResourceServer(spec, deps);
  const cache = tokenCache(spec.cache, deps, key);
  const { defaultTtlMs } = spec.cache;

  const write = (exchange: Exchange, token: string): Refusal | null => {
    subject.take(exchange);
    return inserter.insert(exchange, token);
  };

  return {
    details: `token of the other application in ${inserter.place}`,
    apply: (exchange) => {
      const own = subject.read(exchange);
      if (own === null) {
        tellWhy(exchange, 'the request has no subject token');
        return invalidRequest;
      }
      const token = cache.get(createHash('sha256').update(own).digest('base64url'), async () => {
        const context = { trace: exchange.trace?.scoped('backend_auth') ?? null, spans: exchange.spans };
        const answer = await askServer(await askProvider(own, context), context);
        return accessTokenIn(answer, undefined, { subject: own, nowMs: Date.now(), defaultTtlMs });
      });
      return writeToken(token, exchange, { clock: deps.clock, write });
    },
  };
}

/** The first leg: the caller's token for an assertion. */
function compileIdentityProvider(
  { identityProvider, subject, audience, scopes, resources }: CrossAppAccess,
  deps: PolicyDeps,
): (token: string, context: CallContext) => Promise<string> {
  const ask = tokenEndpoint(identityProvider, deps);
  return async (token, context) => {
    const form = exchangeForm({
      subject: { token, type: subject.tokenType },
      actor: null,
      requestedType: ID_JAG,
    });
    addWanted(form, { audiences: [audience], scopes, resources });
    return assertionIn(await ask(form, context));
  };
}

/** The second leg: the assertion for a token. What it does not take was not the caller's. */
function compileResourceServer(
  { resourceAuthorizationServer, scopes, accessTokenScopes = scopes }: CrossAppAccess,
  deps: PolicyDeps,
): (assertion: string, context: CallContext) => Promise<JsonObject> {
  const ask = tokenEndpoint(resourceAuthorizationServer, deps);
  return async (assertion, context) => {
    const form = assertionForm(assertion);
    addWanted(form, { audiences: [], scopes: accessTokenScopes, resources: [] });
    try {
      return await ask(form, context);
    } catch (error) {
      throw error instanceof CallerError ? new CredentialError(error.message, { cause: error.cause }) : error;
    }
  };
}
