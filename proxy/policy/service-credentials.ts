import type { BackendAuth } from '../../src/config/ir/policy/backend-auth.ts';
import { backendAuth, backendSign } from '../backends/auth/compile.ts';
import { Exchange } from '../exchange/exchange.ts';
import type { HttpRequest } from '../exchange/message.ts';
import type { Refusal } from '../exchange/refusal.ts';
import type { PolicyContext } from './contract.ts';

/** Writes credentials into a request to a service, on behalf of a client's; a refusal where there are none to be had. */
export type Authorize = (request: HttpRequest, exchange: Exchange) => Promise<Refusal | null>;

/**
 * The credentials that the policies of the connection to a service name, as backends get them; null when they name none.
 * `scope` is where a trace tells of them. Throws a `GwError` for credentials that cannot be used.
 */
export function serviceCredentials(
  spec: BackendAuth | undefined,
  context: PolicyContext,
  scope: string,
): Authorize | null {
  if (spec === undefined) return null;
  const step = backendAuth(spec, context);
  const effective = { values: { backendAuth: spec }, sources: { backendAuth: context.source } };
  const sign = backendSign(effective, context.deps);
  return async (request, exchange) => {
    const trace = exchange.trace?.scoped(scope) ?? null;
    const call = new Exchange(request, exchange.connection, exchange.transport, trace);
    Object.assign(call.attributes, exchange.attributes);
    const unlisten = exchange.onClientGone(() => call.clientLeft());
    try {
      const outcome = step === null ? null : await step(call);
      if (outcome?.kind === 'fail') return outcome.refusal;
      return sign === null ? null : await sign(call);
    } finally {
      unlisten();
    }
  };
}
