import type { GatewayConfig, ServiceRef } from '../../src/config/ir/index.ts';
import { peerOf } from '../backends/connect.ts';
import { expressionOptions } from '../engine/policy-deps.ts';
import { connectionContext } from '../expression/connection-context.ts';
import { observedExpressions } from '../expression/observed.ts';
import type { ConnectionFacts } from '../exchange/connection.ts';
import { RuleSet } from '../policy/authorization/rules.ts';
import { policyName } from './policy-names.ts';
import type { Recorder } from '../telemetry/recorder.ts';

/** Tells what the policies of connections say of this one; false when it would be closed before a request is read. */
export function admitsConnection(config: GatewayConfig, connection: ConnectionFacts, trace: Recorder): boolean {
  const { networkAuthorization, networkExtAuthz } = config.frontend;
  if (networkAuthorization !== undefined && networkAuthorization.rules.length > 0) {
    const expressions = observedExpressions(expressionOptions(config));
    const rules = new RuleSet(networkAuthorization.rules, expressions, 'networkAuthorization');
    const outcome = rules.explain(connectionContext(connection, trace));
    trace.emit(outcome, outcome.result === 'allow' ? 'success' : 'error');
    if (outcome.result === 'deny') return false;
  }
  if (networkExtAuthz !== undefined) {
    const details = { notAsked: serviceName(networkExtAuthz.service) };
    trace.emit({ type: 'policyEvent', kind: policyName('networkExtAuthz'), details }, 'warn');
  }
  return true;
}

function serviceName({ target }: ServiceRef): string {
  switch (target.kind) {
    case 'inline':
      return peerOf(target.backend.target);
    case 'service':
      return `${target.namespace}/${target.hostname}:${target.port}`;
    default:
      return target.backend;
  }
}
