import type { FrontendPolicies } from '../../../src/config/ir/index.ts';
import { Attributes } from '../../exchange/attributes.ts';
import type { ConnectionFacts } from '../../exchange/connection.ts';
import type { EvalContext } from '../../expression/contract.ts';
import type { PolicyDeps } from '../contract.ts';
import { networkAuthorization } from '../authorization/network.ts';
import { networkExtAuthz } from '../ext-authz/network.ts';

/** One policy's word on a connection that nothing of was served yet; a promise only when somebody has to be asked. */
export type ConnectionGate = (context: EvalContext, closed: () => AbortSignal) => boolean | Promise<boolean>;

/** The policies of connections, in the order in which they are asked. Throws a `GwError` for what can't be compiled. */
export function compileGates(frontend: FrontendPolicies, deps: PolicyDeps): readonly ConnectionGate[] {
  const { networkAuthorization: rules, networkExtAuthz: asked } = frontend;
  return [
    // First: it costs no call.
    rules === undefined ? null : networkAuthorization(rules, deps),
    asked === undefined ? null : networkExtAuthz(asked, deps),
  ].filter((gate) => gate !== null);
}

/** Asks every gate until one refuses. */
export function admits(
  gates: readonly ConnectionGate[],
  connection: ConnectionFacts,
  closed: () => AbortSignal,
): boolean | Promise<boolean> {
  if (gates.length === 0) return true;
  return passFrom(gates, 0, { context: contextOf(connection), closed });
}

interface Arrival {
  readonly context: EvalContext;
  readonly closed: () => AbortSignal;
}

function passFrom(gates: readonly ConnectionGate[], from: number, arrival: Arrival): boolean | Promise<boolean> {
  for (let i = from; i < gates.length; i++) {
    const passes = gates[i]?.(arrival.context, arrival.closed) ?? true;
    if (passes instanceof Promise) return passes.then((passed) => passed && passFrom(gates, i + 1, arrival));
    if (!passes) return false;
  }
  return true;
}

/** A connection is all that expressions see. */
function contextOf(connection: ConnectionFacts): EvalContext {
  return { connection, request: null, response: null, attributes: new Attributes(), progress: null, trace: null };
}
