import type { ExtAuthz } from '../../../src/config/ir/policy/ext-authz.ts';
import type { EvalContext } from '../../expression/contract.ts';
import type { PolicyDeps } from '../contract.ts';
import { Decider } from './decider.ts';

/** The check of a connection. */
type Gate = (context: EvalContext, closed: () => AbortSignal) => boolean | Promise<boolean>;

/** Asks a service about each connection, before anything of it is served. Throws a `GwError` for what can't be compiled. */
export function networkExtAuthz(spec: ExtAuthz, deps: PolicyDeps): Gate {
  const source = 'frontendPolicies.networkExtAuthz';
  const decider = new Decider(spec, { phase: 'gateway', source, deps });
  const log = deps.log.scope('ext_authz');
  const ask = async (context: EvalContext, key: string | null, signal: AbortSignal): Promise<boolean> => {
    const question = { context, request: null, startedAt: performance.now(), body: null };
    const decided = await decider.ask(question, { key, carryOut: () => {}, signal, trace: null });
    if (decided.kind === 'decided') return decided.decision.kind === 'allowed';
    if (spec.failure !== 'allow' || signal.aborted) return false;
    log.debug('a connection passes unasked', { 'src.addr': context.connection.sourceAddress });
    return true;
  };
  return (context, closed) => {
    const remembered = decider.recall(context);
    if (remembered.kind === 'known') return remembered.decision.kind === 'allowed';
    return ask(context, remembered.key, closed());
  };
}
