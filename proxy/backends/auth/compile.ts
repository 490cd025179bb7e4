import type { BackendAuth, BackendAuthKind, BackendPolicies } from '../../../src/config/ir/index.ts';
import { assertNever } from '../../../src/shared/assert-never.ts';
import { GwError, messageOf } from '../../../src/shared/errors.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import type { Refusal } from '../../exchange/refusal.ts';
import { next, type Outcome, type PolicyContext, type PolicyDeps, type RequestStep } from '../../policy/contract.ts';
import type { Effective } from '../../policy/effective.ts';
import { definitionKey } from '../../policy/definition-key.ts';
import { awsSigner } from './aws/compile.ts';
import { azureToken } from './azure/compile.ts';
import type { Cloud } from './cloud.ts';
import type { Apply, CredentialKind } from './contract.ts';
import { copilotToken } from './copilot.ts';
import { authFailed, CallerError, causesOf } from './failure.ts';
import { gcpToken } from './gcp/compile.ts';
import { jwtSign } from './jwt-sign.ts';
import { fixedKey } from './key.ts';
import { crossAppAccess } from './oauth/cross-app-access.ts';
import { tokenExchange } from './oauth/token-exchange.ts';
import { passthrough } from './passthrough.ts';

/** Writes credentials into the request before each attempt: the main kind, then the fixed ones. */
export function backendAuth(spec: BackendAuth, context: PolicyContext): RequestStep | null {
  const { main, credentials } = spec;
  const kinds = [
    ...(main === undefined ? [] : [compileKind(main, { spec, context })]),
    ...credentials.map((credential) => fixedKey(credential)),
  ]
    .filter((kind) => kind !== null)
    .map((kind) => told(kind, context));
  if (kinds.length === 0) return null;
  const onError = failureReporter(context);
  return (exchange) => applyAll(kinds, { exchange, onError, from: 0 });
}

/** Tells the log, and a watched request, what went wrong; the client learns less. */
type OnError = (error: unknown, exchange: Exchange) => Refusal;

function failureReporter({ deps, source }: PolicyContext): OnError {
  const log = deps.log.scope('backend-auth');
  return (error, { trace }) => {
    const cause = causesOf(error);
    const message = messageOf(error);
    const fields = { source, error: message, ...(cause === null ? {} : { cause }) };
    if (error instanceof CallerError) log.info("a caller's credential was not taken", fields);
    else log.warn('backend authentication failed', fields);
    if (cause !== null)
      trace?.emit({ type: 'policyEvent', kind: 'backend_auth', details: `${message}: ${cause}` }, 'error');
    return authFailed(error);
  };
}

/** Traces name the resource that says so. */
function told({ details, apply }: CredentialKind, { source }: PolicyContext): CredentialKind {
  return { details: `${details} (from ${source})`, apply };
}

function cloudIn({ cloud }: PolicyDeps): Cloud {
  if (cloud !== undefined) return cloud;
  throw new GwError('credentials of clouds cannot be used here', { code: 'GW_POLICY_INVALID' });
}

/** What runs last of all, over the request as it leaves; null for kinds that do not sign it. */
export function backendSign({ values, sources }: Effective<BackendPolicies>, deps: PolicyDeps): Apply | null {
  const spec = values.backendAuth;
  if (spec?.main?.kind !== 'aws' || deps.dryRun !== undefined) return null;
  const context: PolicyContext = { phase: 'backend', source: sources.backendAuth ?? '', deps };
  const key = definitionKey('backendAuth', spec, context);
  const signer = told(awsSigner(spec.main, { deps, cloud: cloudIn(deps), key }), context);
  const onError = failureReporter(context);
  return async (exchange) => {
    let refusal: Refusal | null;
    try {
      refusal = await signer.apply(exchange);
    } catch (error) {
      refusal = onError(error, exchange);
    }
    done(signer, exchange, refusal);
    return refusal;
  };
}

function compileKind(
  main: BackendAuthKind,
  { spec, context }: { readonly spec: BackendAuth; readonly context: PolicyContext },
): CredentialKind | null {
  const { deps } = context;
  // What tokens are remembered by.
  const state = () => ({ deps, key: definitionKey('backendAuth', spec, context) });
  switch (main.kind) {
    case 'key':
      return fixedKey(main);
    case 'passthrough':
      return passthrough(main);
    case 'jwtSign':
      return jwtSign(main);
    case 'aws':
      // Signs last of all, see `backendSign`.
      return null;
    case 'azure':
      return azureToken(main, { ...state(), cloud: cloudIn(deps) });
    case 'gcp':
      return gcpToken(main, { ...state(), cloud: cloudIn(deps) });
    case 'copilot':
      return copilotToken({ ...state(), cloud: cloudIn(deps) });
    case 'oauthTokenExchange':
      return tokenExchange(main, state());
    case 'crossAppAccess':
      return crossAppAccess(main, state());
    default:
      return assertNever(main);
  }
}

interface Applying {
  readonly exchange: Exchange;
  readonly onError: OnError;
  readonly from: number;
}

/** No promise unless a credential has to be waited for. */
function applyAll(kinds: readonly CredentialKind[], { exchange, onError, from }: Applying): Outcome | Promise<Outcome> {
  for (let i = from; i < kinds.length; i++) {
    const kind = kinds[i];
    if (kind === undefined) break;
    const applied = kind.apply(exchange);
    if (applied instanceof Promise) {
      return applyRest(kinds, kind, { waiting: applied, exchange, onError, from: i + 1 });
    }
    const failed = done(kind, exchange, applied);
    if (failed !== null) return failed;
  }
  return next;
}

async function applyRest(
  kinds: readonly CredentialKind[],
  kind: CredentialKind,
  { waiting, ...applying }: Applying & { readonly waiting: Promise<Refusal | null> },
): Promise<Outcome> {
  const refusal = await waiting.catch((error: unknown) => applying.onError(error, applying.exchange));
  return done(kind, applying.exchange, refusal) ?? applyAll(kinds, applying);
}

function done(kind: CredentialKind, exchange: Exchange, refusal: Refusal | null): Outcome | null {
  if (refusal === null) {
    exchange.trace?.applied('backend_auth', kind.details);
    return null;
  }
  exchange.trace?.applied('backend_auth', `${kind.details}: ${refusal.message}`, 'error');
  return { kind: 'fail', refusal };
}
