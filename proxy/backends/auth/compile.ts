import type { BackendAuth, BackendAuthKind, BackendPolicies } from '../../../src/config/ir/index.ts';
import { messageOf } from '../../../src/shared/errors.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { next, type Outcome, type PolicyContext, type PolicyDeps, type RequestStep } from '../../policy/contract.ts';
import type { Effective } from '../../policy/effective.ts';
import type { Apply, CredentialKind } from './contract.ts';
import { authFailed } from './failure.ts';
import { jwtSign } from './jwt-sign.ts';
import { fixedKey } from './key.ts';
import { passthrough } from './passthrough.ts';

/** Writes credentials into the request before each attempt: the main kind, then the fixed ones. */
export function backendAuth(spec: BackendAuth, context: PolicyContext): RequestStep | null {
  const { main, credentials } = spec;
  const kinds = [
    ...(main === undefined ? [] : [compileKind(main, context)]),
    ...credentials.map((credential) => fixedKey(credential)),
  ].filter((kind) => kind !== null);
  if (kinds.length === 0) return null;
  const log = context.deps.log.scope('backend-auth');
  const onError = (error: unknown): Refusal => {
    log.warn('backend authentication failed', { source: context.source, error: messageOf(error) });
    return authFailed(error);
  };
  return (exchange) => applyAll(kinds, { exchange, onError, from: 0 });
}

/** What runs last of all, over the request as it leaves; null for kinds that do not sign it. */
export function backendSign({ values }: Effective<BackendPolicies>, deps: PolicyDeps): Apply | null {
  const main = values.backendAuth?.main;
  return main?.kind !== 'aws' || deps.dryRun !== undefined ? null : null;
}

function compileKind(main: BackendAuthKind, _context: PolicyContext): CredentialKind | null {
  switch (main.kind) {
    case 'key':
      return fixedKey(main);
    case 'passthrough':
      return passthrough(main);
    case 'jwtSign':
      return jwtSign(main);
    default:
      return null;
  }
}

interface Applying {
  readonly exchange: Exchange;
  readonly onError: (error: unknown) => Refusal;
  readonly from: number;
}

/** No promise unless a credential has to be waited for. */
function applyAll(kinds: readonly CredentialKind[], { exchange, onError, from }: Applying): Outcome | Promise<Outcome> {
  for (let i = from; i < kinds.length; i++) {
    const kind = kinds[i];
    if (kind === undefined) break;
    const applied = kind.apply(exchange);
    if (applied instanceof Promise) {
      const rest = { exchange, onError, from: i + 1 };
      return applied.catch(onError).then((refusal) => done(kind, exchange, refusal) ?? applyAll(kinds, rest));
    }
    const failed = done(kind, exchange, applied);
    if (failed !== null) return failed;
  }
  return next;
}

function done(kind: CredentialKind, exchange: Exchange, refusal: Refusal | null): Outcome | null {
  if (refusal === null) {
    exchange.trace?.applied('backend_auth', kind.details);
    return null;
  }
  exchange.trace?.applied('backend_auth', `${kind.details}: ${refusal.message}`, 'error');
  return { kind: 'fail', refusal };
}
