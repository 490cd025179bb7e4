import type { AgentCoreBackend, BackendPolicies } from '../../src/config/ir/index.ts';
import { agentCorePolicies, agentCoreTarget } from '../backends/agent-core.ts';
import type { PolicyDeps } from '../policy/contract.ts';
import { type Authorize, serviceCredentials } from '../policy/service-credentials.ts';

/** A copy for an agent of AWS has its path, and is signed as calls of it are. */
export function agentAddress(agent: AgentCoreBackend, policies: BackendPolicies, deps: PolicyDeps): Authorize {
  const target = agentCoreTarget(agent);
  const { backendAuth } = agentCorePolicies(policies, agent);
  const authorize = serviceCredentials(backendAuth, { phase: 'backend', source: agent.key, deps }, 'mirror');
  return async (request, exchange) => {
    request.target = target(request);
    return authorize === null ? null : authorize(request, exchange);
  };
}
