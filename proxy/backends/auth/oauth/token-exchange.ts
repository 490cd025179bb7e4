import { createHash } from 'node:crypto';

import type { OAuthTokenExchange } from '../../../../src/config/ir/index.ts';
import type { Exchange } from '../../../exchange/exchange.ts';
import type { Refusal } from '../../../exchange/refusal.ts';
import type { PolicyDeps } from '../../../policy/contract.ts';
import type { CredentialKind } from '../contract.ts';
import { invalidRequest } from '../failure.ts';
import { writeToken } from '../fetched.ts';
import { compileInserter } from '../insert.ts';
import { callerToken, tellWhy, type CallerToken } from './caller-token.ts';
import { accessTokenIn, addWanted, assertionForm, exchangeForm } from './grants.ts';
import { tokenCache } from './cache.ts';
import { checkMayAct } from './may-act.ts';
import { tokenEndpoint } from './token-endpoint.ts';

/** Where the state of a definition is kept. */
export interface OAuthDeps {
  readonly deps: PolicyDeps;
  /** Identity of the definition. */
  readonly key: string;
}

/** What one request brings to the exchange. */
interface Brought {
  readonly subject: string;
  readonly actor: string | null;
  readonly params: readonly (readonly [name: string, value: string])[];
}

/** Trades the caller's token for one that the backend takes. Throws a `GwError` for what can't be compiled. */
export function tokenExchange(spec: OAuthTokenExchange, { deps, key }: OAuthDeps): CredentialKind {
  const inserter = compileInserter(spec.location);
  const bring = compileBringing(spec, deps);
  const ask = tokenEndpoint(spec.endpoint, deps);
  const cache = tokenCache(spec.cache, deps, key);
  const { defaultTtlMs } = spec.cache;
  const { subject: subjectSource, actor: actorSource, requestedTokenType } = spec;

  const write = (exchange: Exchange, token: string): Refusal | null => {
    bring.subject.take(exchange);
    bring.actor?.take(exchange);
    return inserter.insert(exchange, token);
  };

  const formOf = ({ subject, actor, params }: Brought): URLSearchParams => {
    const form =
      spec.grantType === 'jwtBearer'
        ? assertionForm(subject)
        : exchangeForm({
            subject: { token: subject, type: subjectSource.tokenType },
            actor: actor === null || actorSource === undefined ? null : { token: actor, type: actorSource.tokenType },
            requestedType: requestedTokenType,
          });
    addWanted(form, spec);
    for (const [name, value] of params) form.set(name, value);
    return form;
  };

  return {
    details: `exchanged token in ${inserter.place}`,
    apply: (exchange) => {
      const brought = bring.read(exchange);
      if ('status' in brought) return brought;
      const token = cache.get(keyOf(brought), async () => {
        const context = { trace: exchange.trace?.scoped('backend_auth') ?? null, spans: exchange.spans };
        const answer = await ask(formOf(brought), context);
        const lifetime = { subject: brought.subject, nowMs: Date.now(), defaultTtlMs };
        return accessTokenIn(answer, requestedTokenType, lifetime);
      });
      return writeToken(token, exchange, { clock: deps.clock, write });
    },
  };
}

interface Bringing {
  readonly subject: CallerToken;
  readonly actor: CallerToken | null;
  /** A refusal when something is missing. */
  read(exchange: Exchange): Brought | Refusal;
}

function compileBringing({ subject, actor, additionalParams }: OAuthTokenExchange, deps: PolicyDeps): Bringing {
  const where = 'oauthTokenExchange';
  const subjectToken = callerToken(subject, deps, `${where} subjectToken`);
  const actorToken = actor === undefined ? null : callerToken(actor, deps, `${where} actorToken`);
  const params = additionalParams.map(
    ([name, source]) => [name, deps.expressions.compile(source, `${where} additionalParams.${name}`)] as const,
  );
  return {
    subject: subjectToken,
    actor: actorToken,
    read(exchange) {
      const own = subjectToken.read(exchange);
      const acting = actorToken?.read(exchange) ?? null;
      if (own === null) return missing(exchange, 'subject token');
      if (actorToken !== null && acting === null) return missing(exchange, 'actor token');
      const values: [string, string][] = [];
      for (const [name, expression] of params) {
        const value = expression.text(exchange);
        if (value === null) return missing(exchange, `value for the parameter ${name}`);
        values.push([name, value]);
      }
      const refusal = actor?.enforceMayAct === true && acting !== null ? checkMayAct(exchange, own, acting) : null;
      return refusal ?? { subject: own, actor: acting, params: values };
    },
  };
}

function missing(exchange: Exchange, what: string): Refusal {
  tellWhy(exchange, `the request has no ${what}`);
  return invalidRequest;
}

/** Tokens themselves are not kept as keys. */
function keyOf({ subject, actor, params }: Brought): string {
  return createHash('sha256')
    .update(JSON.stringify([subject, actor, params]))
    .digest('base64url');
}
